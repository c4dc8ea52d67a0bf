# SPDX-License-Identifier: Apache-2.0
#
# The documentation as a site: all pages of docs/, those of docs/site with their code run, and a reference of the Python
# package from its docstrings. A warning is an error.

run_docs() {
  (($# == 0)) || die "docs has no option $1"
  need_packages build python
  local python log=build/docs.log
  python=$(find_new_python)
  [[ -n $python ]] || die "the site is made with Python 3.12 or later; there is none here"
  choose_demo_preset
  need_demo_python
  configure_and_build "$DEMO_PRESET" terrazzo_cli
  need_demo_module
  make_venv "$ROOT/build/docs-venv" "$python" tools/requirements-docs.txt
  say "running the examples and making the site (a minute)"
  if ! PYTHONPATH=$MODULE_FOLDER "$ROOT/build/docs-venv/bin/python" -m sphinx -W --keep-going -q -b html -c docs/site docs out/docs/html >"$log" 2>&1; then
    show_end_of "$log"
    die "the site has errors; the whole output is in $log"
  fi
  say "look at out/docs/html/index.html"
}
