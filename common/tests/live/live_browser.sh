#!/bin/sh
# live_browser.sh ROOT BUILD PYTHON TEST PAGE [ARGUMENT...]: a live page in a browser, which TEST drives
# with these arguments. Exit code: 77 if there is no Chromium, or its driver cannot be installed
# (skipped).
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v $name) && break
done
if [ -z "$browser" ]; then
  echo "skipped: no Chromium (Debian: apt-get install chromium)"
  exit 77
fi
"$3" -B "$1/docs/site/build.py" --browser "$2" || exit
python=$2/site-venv/bin/python test=$4 page=$5
shift 5
"$python" "$test" "$page" "$browser" "$@"
