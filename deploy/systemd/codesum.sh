#!/bin/sh
# codesum as the units call it; for root: /usr/local/bin/codesum, see deploy/systemd/README.md.
set -a
. /etc/codesum/environment
cd /var/lib/codesum && exec env HOME=/var/lib/codesum runuser --user codesum -- /opt/codesum/bin/codesum "$@"
