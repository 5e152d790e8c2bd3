#!/bin/sh
# live_browser.sh ROOT BUILD PYTHON [--all]: the live page of BUILD in a browser. Exit code: 77 if
# there is no Chromium, or its driver cannot be installed (skipped).
here=$(dirname "$0")
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v $name) && break
done
if [ -z "$browser" ]; then
  echo "skipped: no Chromium (Debian: apt-get install chromium)"
  exit 77
fi
"$3" -B "$1/docs/site/build.py" --browser "$2" || exit
"$2/site-venv/bin/python" "$here/live_browser.py" "$2/live/live.html" "$browser" ${4+"$4"}
