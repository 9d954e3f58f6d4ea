"""The languages that a digest can be written in: those of ISO 639-1, by English name or by tag.

What an intent says goes into a prompt, where a misspelt language is written in
English and nobody is warned. `German`, `de` and `de-CH` are known; `Germn` is not.
"""

import difflib
import re

# A tag as of BCP 47, as far as a writer needs it: language, script, region.
_TAG = re.compile(r"(?P<language>[a-z]{2})(?:[-_](?P<script>[A-Z][a-z]{3}))?(?:[-_](?P<region>[A-Z]{2}|[0-9]{3}))?")
_NAMES = """
aa Afar, ab Abkhazian, ae Avestan, af Afrikaans, ak Akan, am Amharic, an Aragonese, ar Arabic, as Assamese, av Avaric,
ay Aymara, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian, bi Bislama, bm Bambara, bn Bengali, bo Tibetan,
br Breton, bs Bosnian, ca Catalan, ce Chechen, ch Chamorro, co Corsican, cr Cree, cs Czech, cu Church Slavic,
cv Chuvash, cy Welsh, da Danish, de German, dv Divehi, dz Dzongkha, ee Ewe, el Greek, en English, eo Esperanto,
es Spanish, et Estonian, eu Basque, fa Persian, ff Fulah, fi Finnish, fj Fijian, fo Faroese, fr French,
fy Western Frisian, ga Irish, gd Scottish Gaelic, gl Galician, gn Guarani, gu Gujarati, gv Manx, ha Hausa, he Hebrew,
hi Hindi, ho Hiri Motu, hr Croatian, ht Haitian Creole, hu Hungarian, hy Armenian, hz Herero, ia Interlingua,
id Indonesian, ie Interlingue, ig Igbo, ii Sichuan Yi, ik Inupiaq, io Ido, is Icelandic, it Italian, iu Inuktitut,
ja Japanese, jv Javanese, ka Georgian, kg Kongo, ki Kikuyu, kj Kuanyama, kk Kazakh, kl Greenlandic, km Khmer,
kn Kannada, ko Korean, kr Kanuri, ks Kashmiri, ku Kurdish, kv Komi, kw Cornish, ky Kyrgyz, la Latin, lb Luxembourgish,
lg Ganda, li Limburgish, ln Lingala, lo Lao, lt Lithuanian, lu Luba-Katanga, lv Latvian, mg Malagasy, mh Marshallese,
mi Maori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, na Nauru,
nb Norwegian Bokmål, nd North Ndebele, ne Nepali, ng Ndonga, nl Dutch, nn Norwegian Nynorsk, no Norwegian,
nr South Ndebele, nv Navajo, ny Chichewa, oc Occitan, oj Ojibwa, om Oromo, or Odia, os Ossetian, pa Punjabi, pi Pali,
pl Polish, ps Pashto, pt Portuguese, qu Quechua, rm Romansh, rn Rundi, ro Romanian, ru Russian, rw Kinyarwanda,
sa Sanskrit, sc Sardinian, sd Sindhi, se Northern Sami, sg Sango, si Sinhala, sk Slovak, sl Slovenian, sm Samoan,
sn Shona, so Somali, sq Albanian, sr Serbian, ss Swati, st Southern Sotho, su Sundanese, sv Swedish, sw Swahili,
ta Tamil, te Telugu, tg Tajik, th Thai, ti Tigrinya, tk Turkmen, tl Tagalog, tn Tswana, to Tongan, tr Turkish,
ts Tsonga, tt Tatar, tw Twi, ty Tahitian, ug Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, ve Venda, vi Vietnamese,
vo Volapük, wa Walloon, wo Wolof, xh Xhosa, yi Yiddish, yo Yoruba, za Zhuang, zh Chinese, zu Zulu
"""
LANGUAGES = dict(entry.strip().split(" ", 1) for entry in _NAMES.split(","))
_BY_NAME = {name.lower(): name for name in LANGUAGES.values()}


def language_name(written: str) -> str:
    """The English name of a language's name or tag, with its script and region: `de-CH` is `German (CH)`.

    Raises `ValueError` with the way out for one that is not known.
    """
    text = written.strip()
    if found := _BY_NAME.get(text.lower()):
        return found
    tag = _TAG.fullmatch(text)
    if tag and tag["language"] in LANGUAGES:
        parts = [part for part in (tag["script"], tag["region"]) if part]
        return LANGUAGES[tag["language"]] + (f" ({', '.join(parts)})" if parts else "")
    named, _, rest = text.partition(" (")
    if rest.endswith(")") and (found := _BY_NAME.get(named.lower())):
        code = next(code for code, name in LANGUAGES.items() if name == found)
        return language_name("-".join([code, *rest[:-1].split(", ")]))
    near = difflib.get_close_matches(text[:60].lower(), _BY_NAME, n=1)
    hint = f"; the nearest is {_BY_NAME[near[0]]!r}" if near else ""
    raise ValueError(f"unknown language{hint}: write its English name or its tag ('German', 'de', 'pt-BR')")
