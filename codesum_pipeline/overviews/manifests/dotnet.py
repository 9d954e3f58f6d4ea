""".NET: project files and central package versions, Microsoft's XML."""

from codesum_pipeline.overviews.manifests.manifest import Dependency, DependencyScope, EntryKind, EntryPoint, Manifest
from codesum_pipeline.overviews.manifests.plain import read_xml

_TEST_SDK = "microsoft.net.test.sdk"


def read_project(path: str, text: str) -> Manifest:
    """A .csproj, .fsproj or .vbproj, Directory.Build.props, Directory.Packages.props, packages.config."""
    root = read_xml(text)
    references = [*root.all("PackageReference"), *root.all("PackageVersion"), *root.all("GlobalPackageReference")]
    named = [(each, each.attributes.get("Include") or each.attributes.get("Update")) for each in references]
    named += [(each, each.attributes.get("id")) for each in root.all("package")]
    is_test = any((name or "").lower() == _TEST_SDK for _, name in named)
    scope = DependencyScope.DEV if is_test else DependencyScope.RUN
    found = [
        Dependency(
            "nuget",
            name,
            each.attributes.get("Version") or each.attributes.get("version") or each.text_of("Version"),
            path,
            each.line,
            scope,
        )
        for each, name in named
        if name
    ]
    found += [
        Dependency("msbuild", sdk.partition("/")[0], None, path, project.line, DependencyScope.BUILD)
        for project in root.all("Project")
        if (sdk := project.attributes.get("Sdk"))
    ]
    own = path.rpartition("/")[2].rpartition(".")[0]
    commands = [
        EntryPoint(own, EntryKind.APPLICATION, path, kind.line)
        for kind in root.all("OutputType")
        if kind.text.strip().lower() in ("exe", "winexe")
    ]
    packages = [each.text.strip() for each in root.all("PackageId") if each.text.strip()]
    return Manifest(path, (own, *packages), tuple(found), tuple(commands))
