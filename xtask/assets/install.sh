#!/bin/sh
# Installs packages without letting their services start.
#
# Usage: install.sh POLICY PACKAGE...
# POLICY is where Debian looks for a policy on starting services (/usr/sbin/policy-rc.d). If there is none, one that
# refuses (exit status 101) is there while packages are installed, and is gone afterwards, whatever happens.
set -eu
policy=$1
shift

# With `noclobber` the file is made here or was there already: never somebody else's that is overwritten.
if (set -C; printf '#!/bin/sh\nexit 101\n' >"$policy") 2>/dev/null; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' HUP INT TERM
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
# One unreachable source need not matter; if it does, installing says so.
apt-get update -qq || echo "apt-get update failed; going on with the package lists that are there" >&2
apt-get install -y -qq --no-install-recommends "$@" </dev/null
