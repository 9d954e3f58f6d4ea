"""How secrets look: the documented formats of tokens and keys, one rule a kind.

A rule's pattern is tried only on texts that hold one of its keywords, in lower
case. What is secret is the group `s`, or else the whole match.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret."""

    kind: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(kind: str, keywords: str, pattern: str) -> Rule:
    return Rule(kind, tuple(keywords.split()), re.compile(pattern))


def _prefixed(kind: str, prefix: str, rest: str, *, keywords: str = "") -> Rule:
    """A token that begins with its issuer's prefix, and is no part of a longer word."""
    pattern = rf"(?<![A-Za-z0-9_]){prefix}{rest}(?![A-Za-z0-9])"
    return Rule(kind, tuple((keywords or prefix).lower().split()), re.compile(pattern))


_PEM = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_RUN = "[A-Za-z0-9+/=]{24,}"
# Between its ends a key has base64 and what a language puts around lines of a string, and no code. Nothing of it is
# tried twice (`*+`): a line break written as an escape could be read in two ways, each of many lines.
_PEM_HEAD = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200}"
_PEM_BODY = rf"""(?:\\[nrt]|{_PEM_RUN}|{_PEM_HEAD}|[\s"'`+,;.:#*|>()\\])*+"""

# The only kind that goes over lines.
PRIVATE_KEY = _rule(
    "private-key",
    "private",
    rf"{_PEM}(?:{_PEM_BODY}[A-Za-z0-9+/=]{{0,76}}{_PEM_BODY}{_PEM_END}|{_PEM_BODY})",
)

FORMATS = (
    _prefixed("age-secret-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    _prefixed("aws-access-key", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z2-7]{16}", keywords="akia asia abia acca"),
    _rule(
        "aws-secret-key",
        "aws secret",
        r"(?i:(?:aws|secret)[\w.-]{0,30}(?:key|secret))[\"'\]]{0,2}\s{0,4}(?:[:=]|=>)\s{0,4}[\"']?"
        r"(?P<s>(?=[a-z/+]*[A-Z0-9])[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _prefixed("gcp-api-key", "AIza", "[A-Za-z0-9_-]{35}"),
    _prefixed("google-oauth-secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    _prefixed("google-oauth-token", r"(?:ya29\.|1//0)", "[A-Za-z0-9_-]{30,}", keywords="ya29. 1//0"),
    _rule(
        "azure-storage-key",
        "accountkey sharedaccesskey",
        r"(?i:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,88}={1,2})",
    ),
    _rule("azure-sas-signature", "sig=", r"[?&]sig=(?P<s>[A-Za-z0-9%+/_-]{40,80}(?:%3D|=)?)"),
    _rule("azure-client-secret", "q~", r"(?<![\w~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])"),
    _prefixed("github-token", "gh[pousr]_", "[A-Za-z0-9]{36,255}", keywords="ghp_ gho_ ghu_ ghs_ ghr_"),
    _prefixed("github-fine-grained-token", "github_pat_", "[A-Za-z0-9_]{60,}"),
    _prefixed(
        "gitlab-token",
        "gl(?:pat|ptt|dt|rt|rtr|ft|soat|agent|cbt|imt|oas|ffct)-",
        r"[A-Za-z0-9_.-]{20,}",
        keywords="glpat- glptt- gldt- glrt- glrtr- glft- glsoat- glagent- glcbt- glimt- gloas- glffct-",
    ),
    _prefixed("bitbucket-token", "ATBB", "[A-Za-z0-9]{24,}(?:[A-F0-9]{8})?"),
    _prefixed("atlassian-token", "AT[AC]TT3", "[A-Za-z0-9_=-]{60,}", keywords="atatt3 atctt3"),
    _prefixed(
        "slack-token", "xox[abeoprs]-", "[A-Za-z0-9-]{10,}", keywords="xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-"
    ),
    _prefixed("slack-app-token", r"xapp-\d-", "[A-Za-z0-9-]{20,}", keywords="xapp-"),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9+/]{20,})",
    ),
    _rule("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d+/(?P<s>[\w-]{50,})"),
    _rule("teams-webhook", ".webhook.office.com", r"\.webhook\.office\.com/webhookb2/(?P<s>[\w@/-]{60,})"),
    _rule(
        "discord-bot-token",
        ".",
        r"(?<![\w.-])[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])",
    ),
    _rule("telegram-bot-token", ":aa", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])"),
    _prefixed(
        "stripe-key",
        "(?:sk|rk)_(?:live|test|prod)_",
        "[A-Za-z0-9]{16,}",
        keywords="sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_",
    ),
    _prefixed("stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    _prefixed("square-token", "(?:sq0[a-z]{3}-|EAAA)", "[A-Za-z0-9_-]{22,80}", keywords="sq0 eaaa"),
    _prefixed(
        "paypal-token",
        r"access_token\$(?:production|sandbox)\$",
        r"[a-z0-9]{16}\$[a-f0-9]{32}",
        keywords="access_token$",
    ),
    _prefixed("shopify-token", "shp(?:at|ca|pa|ss)_", "[A-Fa-f0-9]{32}", keywords="shpat_ shpca_ shppa_ shpss_"),
    _prefixed("sendgrid-key", r"SG\.", r"[\w-]{20,24}\.[\w-]{39,50}", keywords="sg."),
    _prefixed("twilio-key", "SK", "[a-f0-9]{32}"),
    _prefixed("mailgun-key", "key-", "[a-f0-9]{32}"),
    _rule("mailchimp-key", "-us", r"(?<![A-Za-z0-9])[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    _prefixed("npm-token", "npm_", "[A-Za-z0-9]{36}"),
    _rule(
        "npmrc-credential",
        "_auth _password",
        r"(?:^|(?<=:))_(?:authToken|auth|password)[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<s>[A-Za-z0-9+/=_.-]{12,})",
    ),
    _prefixed("pypi-token", "pypi-", "AgE[A-Za-z0-9_-]{50,}"),
    _prefixed("rubygems-key", "rubygems_", "[a-f0-9]{48}"),
    _prefixed("cargo-token", "cio", "[A-Za-z0-9]{32}"),
    _prefixed("clojars-token", "CLOJARS_", "[a-z0-9]{60}"),
    _prefixed("nuget-key", "oy2", "[a-z0-9]{43}"),
    _prefixed("docker-token", "dckr_[op]at_", "[A-Za-z0-9_-]{27,}", keywords="dckr_pat_ dckr_oat_"),
    _rule("docker-auth", '"auth"', r"\"auth\"\s{0,4}:\s{0,4}\"(?P<s>[A-Za-z0-9+/]{12,}={0,2})\""),
    _prefixed("artifactory-key", "(?:AKCp|cmVmdGtuO)", "[A-Za-z0-9]{50,}", keywords="akcp cmvmdgtuo"),
    _prefixed("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{30,}"),
    _rule(
        "openai-key",
        "sk-",
        r"(?<![A-Za-z0-9_-])sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{32,64})(?![\w-])",
    ),
    _prefixed("huggingface-token", "(?:hf_|api_org_)", "[A-Za-z]{34}", keywords="hf_ api_org_"),
    _prefixed("replicate-token", "r8_", "[A-Za-z0-9]{37}"),
    _prefixed("groq-key", "gsk_", "[A-Za-z0-9]{48,}"),
    _prefixed("xai-key", "xai-", "[A-Za-z0-9]{70,}"),
    _prefixed("perplexity-key", "pplx-", "[A-Za-z0-9]{40,}"),
    _prefixed("digitalocean-token", "do[opr]_v1_", "[a-f0-9]{64}", keywords="doo_v1_ dop_v1_ dor_v1_"),
    _prefixed("databricks-token", "dapi", "[a-f0-9]{32}(?:-[0-9])?"),
    _prefixed("heroku-key", "HRKU-", "[A-Za-z0-9_-]{36,}"),
    _prefixed("vault-token", r"hv[sbr]\.", "[A-Za-z0-9_-]{24,}", keywords="hvs. hvb. hvr."),
    _rule("terraform-token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _prefixed("pulumi-token", "pul-", "[a-f0-9]{40}"),
    _prefixed("grafana-token", "gl(?:c|sa)_", "[A-Za-z0-9+/_=]{32,}", keywords="glc_ glsa_"),
    _prefixed("new-relic-key", "NR(?:AK|JS|II|AL)-", "[A-Za-z0-9_-]{19,40}", keywords="nrak- nrjs- nrii- nral-"),
    _prefixed("datadog-key", "dd(?:pat|app)_", "[A-Za-z0-9]{30,}", keywords="ddpat_ ddapp_"),
    _prefixed("dynatrace-token", r"dt0[a-z]\d{2}\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", keywords="dt0"),
    _prefixed("sentry-token", "sntry[su]_", "[A-Za-z0-9+/=_-]{40,}", keywords="sntrys_ sntryu_"),
    _prefixed("linear-key", "lin_(?:api|oauth)_", "[A-Za-z0-9]{32,64}", keywords="lin_api_ lin_oauth_"),
    _prefixed("notion-token", "(?:secret_|ntn_)", "[A-Za-z0-9]{40,50}", keywords="secret_ ntn_"),
    _prefixed("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _prefixed("figma-token", "fig[dour]_", "[A-Za-z0-9_-]{40,}", keywords="figd_ figo_ figu_ figr_"),
    _prefixed("postman-key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"),
    _prefixed(
        "doppler-token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.",
        "(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}",
        keywords="dp.",
    ),
    _prefixed("planetscale-token", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.=-]{32,64}", keywords="pscale_"),
    _prefixed("supabase-key", "sb(?:p|_secret)_", "[A-Za-z0-9_-]{20,}", keywords="sbp_ sb_secret_"),
    _prefixed("netlify-token", "nf[pcou]_", "[A-Za-z0-9]{36}", keywords="nfp_ nfc_ nfo_ nfu_"),
    _prefixed("fly-token", "(?:fo1_|fm[12][ar]?_)", "[A-Za-z0-9+/=_-]{43,}", keywords="fo1_ fm1 fm2"),
    _prefixed(
        "launchdarkly-key",
        "(?:sdk|mob|api)-",
        "[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}",
        keywords="sdk- mob- api-",
    ),
    _prefixed("alibaba-key", "LTAI", "[A-Za-z0-9]{17,21}"),
    _prefixed("tencent-key", "AKID", "[A-Za-z0-9]{32}"),
    _prefixed("dropbox-token", r"sl\.", "(?:u\\.)?[A-Za-z0-9_-]{120,}"),
    _prefixed("facebook-token", "EAA[A-Z]", "[A-Za-z0-9]{60,}", keywords="eaa"),
    _prefixed("1password-token", "ops_", "eyJ[A-Za-z0-9_-]{100,}"),
    _rule("jwt", "eyj", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    _rule(
        "password-hash",
        "$",
        r"\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:1|5|6|y|apr1)\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86})",
    ),
)
