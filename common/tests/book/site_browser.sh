#!/bin/sh
# site_browser.sh ROOT BUILD PYTHON: the site of BUILD in a browser. Exit code: 77 if there is no
# Chromium, or its driver cannot be installed (skipped).
here=$(dirname "$0")
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v $name) && break
done
if [ -z "$browser" ]; then
  echo "skipped: no Chromium (Debian: apt-get install chromium)"
  exit 77
fi
"$3" -B "$1/docs/site/build.py" --browser "$2" || exit
"$2/site-venv/bin/python" "$here/site_browser.py" "$2/site" "$here/site_questions.tsv" "$browser"
