#!/bin/sh
# Starts an agent's program with the python3 of its .venv, or with the system's: launch.sh ENTRY FOLDER/
# [--serve | --check LABEL].
# Descriptor 3 becomes the way to the server, and standard output leads to standard error.
exec 3>&1 1>&2

refuse() {
  if [ "$mode" = --check ]; then
    printf '{"type":"checked","problem":"%s"}\n' "$1" >&3
  else
    # A process that is kept says first that it is ready, and then waits for its leg.
    if [ "$mode" = --serve ]; then
      echo '{"type":"ready"}' >&3
      read -r _
    fi
    printf '{"type":"end","outcome":"error","code":"agent_error","message":"%s"}\n' "$1" >&3
  fi
  exit 0
}

mode=$3
python=python3
if [ -e "$2.venv/bin/python3" ] || [ -L "$2.venv/bin/python3" ]; then
  python=$2.venv/bin/python3
  command -v "$python" >/dev/null ||
    refuse '.venv/bin/python3 links to a program that the sandbox does not have. Create .venv with /usr/bin/python3.'
fi
command -v "$python" >/dev/null || refuse 'The sandbox has no python3.'
# Compiled code is written while the program is loaded only; legs find it read-only (D-184).
write=-B
if [ "$mode" = --check ] && [ -n "$PYTHONPYCACHEPREFIX" ]; then write=; fi
exec "$python" -I $write ${PYTHONPYCACHEPREFIX:+-X "pycache_prefix=$PYTHONPYCACHEPREFIX"} \
  "${0%/*}/convoke_agent/__main__.py" "$@"
