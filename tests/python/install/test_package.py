# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` leaves, the symbols of the shared library, and those that the binaries need."""

import os
import pathlib
import platform
import re
import shutil
import sys

import pytest

import harness
import package

sys.path.insert(0, str(harness.ROOT / "tests/lint"))
import portable_symbols  # noqa: E402  (needs the path above)

PROGRAM = """
#include <terrazzo/info.hpp>
#include <terrazzo/error.hpp>
#include <terrazzo/read.hpp>
#include <terrazzo/version.hpp>
#include <cstdio>
#include <string>
int main() {
  // An exception crosses from the library to the program: its type must be the same for both.
  try { (void)terrazzo::open("no such file.tif"); } catch (terrazzo::Error const& error) {
    std::puts(std::string(terrazzo::version()).c_str());
    return error.kind() == terrazzo::ErrorKind::io ? 0 : 1;
  }
  return 2;
}
"""


def version():
    text = (harness.ROOT / "include/terrazzo/version.hpp").read_text()
    return ".".join(re.findall(r"#define TERRAZZO_VERSION_\w+ (\d+)", text))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return package.install(tmp_path_factory.mktemp("package") / "usr")


def test_the_installation_has_every_part(prefix):
    names = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    for wanted in (r"bin/terrazzo", r"include/terrazzo/array\.hpp", r"lib[^ ]*/libterrazzo\.(a|so)", r"share/doc/terrazzo/LICENSE",
                   r"lib[^ ]*/pkgconfig/terrazzo\.pc", r"lib[^ ]*/cmake/terrazzo/terrazzoConfig\.cmake",
                   r"share/man/man1/terrazzo\.1", r"share/bash-completion/completions/terrazzo",
                   r"share/zsh/site-functions/_terrazzo", r"share/fish/vendor_completions\.d/terrazzo\.fish"):
        assert any(re.fullmatch(wanted, name) for name in names), f"{wanted} is not among {sorted(names)}"
    headers = {path.name for path in (harness.ROOT / "include/terrazzo").iterdir()}
    assert headers == {path.name for path in (prefix / "include/terrazzo").iterdir()}


def test_manual_pages_and_completions_are_those_of_the_binary(prefix, tmp_path):
    harness.run_ok("man", "--share", tmp_path)
    made = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    commands = re.findall(r"^  (\w+)  ", harness.run_ok("--help").stdout.decode().split("Subcommands:")[1], re.MULTILINE)
    assert len(commands) > 10 and {f"man/man1/terrazzo-{command}.1" for command in commands} < made.keys()
    for shell, name in (("bash", "bash-completion/completions/terrazzo"), ("zsh", "zsh/site-functions/_terrazzo"),
                        ("fish", "fish/vendor_completions.d/terrazzo.fish")):
        assert made[name] == harness.run_ok("completion", shell).stdout
    assert made == {name: (prefix / "share" / name).read_bytes() for name in made}


def test_pkg_config_tells_how_to_compile_and_link(prefix, tmp_path):
    assert package.pkg_config(prefix, "--modversion") == [version()]
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved)  # the package holds no absolute paths of its own
    (tmp_path / "main.cpp").write_text(PROGRAM)
    package.build_program(moved, tmp_path / "main.cpp", tmp_path / "main")
    assert package.run(tmp_path / "main").strip() == version()


def test_no_part_of_the_package_names_the_build_folder(prefix):
    for path in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        assert str(package.BUILD) not in path.read_text(), path


def in_cache(name):
    """A value of CMakeCache.txt."""
    found = re.search(rf"^{name}:\w+=(.*)$", (package.BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def test_a_program_needs_no_cuda_toolkit(prefix):
    """The static CUDA runtime is installed beside the library, and no file of the package names the toolkit's folders."""
    runtime = in_cache("CUDA_cudart_static_LIBRARY")
    if not runtime or in_cache("TERRAZZO_CUDA_SHARED_RUNTIME") == "ON":
        pytest.skip("the build has no static CUDA runtime")
    [installed] = prefix.rglob("libcudart_static.a")
    assert installed.parent.name == "terrazzo" and installed.stat().st_size == pathlib.Path(runtime).stat().st_size
    folders = {pathlib.Path(runtime).parent, pathlib.Path(runtime).resolve().parent}
    compilers = [in_cache(name) for name in ("CMAKE_CUDA_COMPILER", "TERRAZZO_NVCC")]
    folders |= {pathlib.Path(os.path.realpath(path)).parents[1] for path in compilers if path}
    folders -= {pathlib.Path("/usr"), pathlib.Path("/")}
    texts = [path for path in prefix.rglob("*") if path.suffix in (".pc", ".cmake")]
    assert len(texts) > 3
    for path in texts:
        named = [folder for folder in map(str, folders) if folder in path.read_text()]
        assert named == [], path
    libraries = package.pkg_config(prefix, "--libs")
    assert any(word.endswith("/terrazzo/libcudart_static.a") for word in libraries)


@pytest.fixture(scope="module")
def shared_library():
    path = package.BUILD / "tests/shared" / f"libterrazzo.so.{version()}"
    if not path.is_file():
        pytest.skip("the build has no shared library")
    return path


def test_the_shared_library_has_a_soname_for_its_minor_version(shared_library):
    major, minor, _ = version().split(".")
    dynamic = package.run("readelf", "-dW", shared_library)
    assert f"Library soname: [libterrazzo.so.{major}.{minor}]" in dynamic
    assert "libcudart" not in dynamic, "the CUDA runtime is static"


def inner_namespaces():
    names = set()
    for path in (harness.ROOT / "src").rglob("*.hpp"):
        names.update(re.findall(r"^namespace terrazzo::(\w+)", path.read_text(), re.MULTILINE))
    return names - {"detail"}  # of public templates


def test_the_shared_library_exports_the_public_names_only(shared_library):
    symbols = [line.split(maxsplit=2)[1:] for line in
               package.run("nm", "-DC", "--defined-only", shared_library).splitlines()]
    exported = {name for kind, name in symbols if kind not in "wWuVv"}
    assert any(name.startswith("terrazzo::open(") for name in exported)
    assert any(name.startswith("terrazzo::Crs::from(") for name in exported)
    for name in exported:
        assert re.match(r"((vtable|typeinfo|typeinfo name|VTT|guard variable) for )?terrazzo::", name), name
    # Weak ones are of templates and inline functions; those of ours are public too.
    inner = re.compile(rf"(\w+ (name )?for )?terrazzo::({'|'.join(sorted(inner_namespaces()))})::")
    assert len(inner_namespaces()) > 5
    assert [name for _, name in symbols if inner.match(name)] == []


def test_a_program_runs_with_the_shared_library(prefix, shared_library, tmp_path):
    (tmp_path / "main.cpp").write_text(PROGRAM)
    folder = shared_library.parent
    package.run("g++", "-std=c++20", f"-I{prefix}/include", tmp_path / "main.cpp", f"-L{folder}", "-lterrazzo",
                f"-Wl,-rpath,{folder}", "-o", tmp_path / "main")
    assert package.run(tmp_path / "main").strip() == version()


@pytest.mark.parametrize("kind", ["command line", "shared library"])
def test_binaries_start_on_systems_that_are_older_than_this_one(kind, request):
    """No symbol newer than those of RHEL 9, also where a header or a compiler has a newer one to offer."""
    if shutil.which("objdump") is None:
        pytest.skip("no objdump")
    if portable_symbols.numbers(platform.libc_ver()[1]) > (2, 36):
        pytest.skip("headers of a glibc newer than Debian 12's choose newer symbols")
    if "TERRAZZO_SANITIZE:STRING=\n" not in (package.BUILD / "CMakeCache.txt").read_text():
        pytest.skip("sanitizers add symbols of their own")
    path = harness.BINARY if kind == "command line" else request.getfixturevalue("shared_library")
    symbols = {symbol for _, _, symbol in portable_symbols.needed(path)}
    assert "pthread_cond_wait" in symbols, "the check sees the symbols"
    assert portable_symbols.too_new(path) == []
