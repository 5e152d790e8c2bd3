#!/bin/sh
# live_browser.sh ROOT BUILD PYTHON TEST PAGE [--all]: a live page in a browser, which TEST drives. Exit
# code: 77 if there is no Chromium, or its driver cannot be installed (skipped).
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v $name) && break
done
if [ -z "$browser" ]; then
  echo "skipped: no Chromium (Debian: apt-get install chromium)"
  exit 77
fi
"$3" -B "$1/docs/site/build.py" --browser "$2" || exit
"$2/site-venv/bin/python" "$4" "$5" "$browser" ${6+"$6"}
