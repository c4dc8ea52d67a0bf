# SPDX-License-Identifier: Apache-2.0
"""Shell completion and manual pages, in the shells and with the tools that use them."""

import re
import shutil
import subprocess

import harness
import manuals
import pytest

DATA = harness.ROOT / "tests/data"
COMMANDS = ("info", "read", "plan", "checksum", "sample", "stats", "preview", "cog", "convert", "mosaic", "overviews", "edit", "validate", "doctor", "help",
            "completion", "bench read", "bench write")

# Calls the function as bash does when the user types TAB: the last word is under the cursor.
BASH = r"""
source "$1"
shift
COMP_WORDS=(terrazzo "$@")
COMP_CWORD=$#
_terrazzo
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    """What the build installs."""
    folder = tmp_path_factory.mktemp("share")
    harness.run_ok("man", "--share", folder)
    return folder


@pytest.fixture(scope="module")
def completed(share):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")

    def complete(*words, cwd=None):
        script = share / "bash-completion/completions/terrazzo"
        result = subprocess.run([bash, "-c", BASH, "bash", script, *words], capture_output=True, text=True, cwd=cwd, check=True)
        assert result.stderr == ""
        return result.stdout.split()

    return complete


def commands_in_help(command=""):
    """Names of the list of subcommands."""
    text = harness.run_ok(*command.split(), "--help").stdout.decode().partition("Subcommands:\n")[2]
    return [line.split()[0] for line in text.partition("\n\n")[0].splitlines()]


def options_in_help(command):
    """Names at the beginning of the option lines of --help."""
    text = harness.run_ok(*command.split(), "--help").stdout.decode()
    names = set()
    for line in text.split("Examples:")[0].splitlines():
        if match := re.match(r"  (-[\w,-]+)", line):
            names |= set(match[1].split(","))
    return names


def test_bash_completes_commands(completed):
    assert completed("") == commands_in_help()
    assert set(completed("co")) == {"cog", "convert", "completion"}
    assert completed("bench", "") == commands_in_help("bench") == ["read", "write"]
    assert "convert" in completed("help", "con")
    assert completed("completion", "z") == ["zsh"]
    assert "man" not in completed("m")


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_completes_every_option_of_the_help(completed, command):
    names = options_in_help(command)
    assert "--help" in names
    assert set(completed(*command.split(), "-")) == names


def test_bash_completes_values(completed):
    assert completed("convert", "a.tif", "--compression", "lerc") == ["lerc", "lerc-deflate", "lerc-zstd"]
    assert completed("convert", "--compression", "=", "zs") == ["zstd"]
    assert completed("convert", "--compression", "=") == completed("convert", "--compression", "")
    assert completed("convert", "a.tif", "--window", "") == []
    assert completed("preview", "--colormap", "vir") == ["viridis"]
    assert completed("read", "--trust", "t") == ["trusted"]


def test_bash_completes_files_and_folders(completed, tmp_path):
    (tmp_path / "dem.tif").touch()
    (tmp_path / "demos").mkdir()
    assert set(completed("info", "dem", cwd=tmp_path)) == {"dem.tif", "demos"}
    assert set(completed("convert", "a.tif", "-o", "dem", cwd=tmp_path)) == {"dem.tif", "demos"}
    assert set(completed("sample", "a.tif", "--points", "dem", cwd=tmp_path)) == {"dem.tif", "demos"}
    assert completed("cog", "--out-dir", "dem", cwd=tmp_path) == ["demos"]


@pytest.mark.parametrize("shell, path", (("bash", "bash-completion/completions/terrazzo"),
                                         ("zsh", "zsh/site-functions/_terrazzo"),
                                         ("fish", "fish/vendor_completions.d/terrazzo.fish")))
def test_the_shell_parses_the_script(share, shell, path):
    script = share / path
    assert script.read_bytes() == harness.run_ok("completion", shell).stdout
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([shell, "-n", script], check=True)


def test_fish_completes_commands_and_options(share):
    if shutil.which("fish") is None:
        pytest.skip("no fish on this machine")

    if subprocess.run(["fish", "--no-config", "-c", "functions -q __fish_use_subcommand"]).returncode != 0:
        pytest.skip("fish without its functions")

    def complete(line):
        script = share / "fish/vendor_completions.d/terrazzo.fish"
        result = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], capture_output=True, text=True,
                                check=True, cwd=share)
        return [one.split("\t")[0] for one in result.stdout.splitlines()]

    assert set(complete("terrazzo co")) == {"cog", "convert", "completion"}
    assert "--compression" in complete("terrazzo convert a.tif --comp")
    assert complete("terrazzo convert a.tif --compression zs") == ["zstd"]
    assert "--random-windows" in complete("terrazzo bench read --rand")
    assert "--random-windows" not in complete("terrazzo read --rand")


def test_there_is_a_page_for_every_command(share):
    names = {path.name for path in (share / "man/man1").iterdir()}
    pages = ["terrazzo", *(f"terrazzo-{c}" for c in commands_in_help()), *(f"terrazzo-bench-{c}" for c in commands_in_help("bench"))]
    assert names == {f"{page}.1" for page in pages}
    assert harness.run_ok("man", "bench", "read").stdout == (share / "man/man1/terrazzo-bench-read.1").read_bytes()
    assert harness.run("man", "teleport").code == harness.USAGE


@pytest.mark.parametrize("command", ("", "bench", *COMMANDS))
def test_groff_formats_the_page_without_warnings(share, command):
    if shutil.which("groff") is None:
        pytest.skip("no groff on this machine")
    page = share / "man/man1" / f"terrazzo{'-' if command else ''}{command.replace(' ', '-')}.1"
    result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c", page], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    text = re.sub(".\b", "", result.stdout)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
        assert f"\n{section}\n" in text
    for name in options_in_help(command):
        assert name in text, name


def test_man_shows_the_page(share):
    command = manuals.command_for(share / "man/man1/terrazzo-convert.1")
    if command is None:
        pytest.skip("no man and no groff on this machine")
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0 and result.stderr == ""
    assert "terrazzo convert" in result.stdout
