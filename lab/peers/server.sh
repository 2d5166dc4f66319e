# Functions of the scripts that start servers: free ports, other users, missing packages, PostgreSQL. Scripts read it with
# `.`, and define `refuse MESSAGE` and `$data`, the folder for everything that a server writes.

# Longest time until a database answers. Units: seconds.
database_limit=60

# Sets $free to a loopback port that nothing listens on, below those that the system gives to clients.
find_port() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        free=$((20000 + RANDOM % 12000))
        (: >"/dev/tcp/127.0.0.1/$free") 2>/dev/null || return 0
    done
    refuse "found no free port from 20000 to 31999"
}

# as_user NAME COMMAND...: the command as that user if this is root, because the databases refuse to run as root.
# The command ends with the parent of this process, by the signal $end. It may read folders of root, so that $data can be
# below a folder that only root enters.
as_user() {
    local user=$1
    shift
    # TMPDIR can be a folder that the user may not write in.
    folder_of "$user" "$data/$user-tmp"
    export TMPDIR=$data/$user-tmp
    if [ "$(id -u)" -eq 0 ]; then
        exec setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=+dac_read_search \
            --ambient-caps=+dac_read_search --pdeathsig="$end" "$@"
    fi
    exec setpriv --pdeathsig="$end" "$@"
}

# needs PACKAGE PROGRAM: installs the package if there is no such program.
needs() {
    [ -x "$2" ] || command -v "$2" >/dev/null && return 0
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null ||
        refuse "$2 is missing; install it, on Debian with: sudo apt-get install $1"
    # The package must not start a server of its own: an existing policy stays as it is.
    local policy=/usr/sbin/policy-rc.d made=''
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && made=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$1" >&2 || {
        [ -z "$made" ] || rm -f $policy
        refuse "could not install $1"
    }
    [ -z "$made" ] || rm -f $policy
}

# folder_of USER FOLDER: makes a folder that the user owns.
folder_of() {
    mkdir -p "$2"
    [ "$(id -u)" -ne 0 ] || chown "$1:" "$2"
}

# wait_for PROCESS LOG COMMAND...: until the command succeeds. Fails if the process ends or takes too long.
wait_for() {
    local process=$1 log=$2 deadline=$((SECONDS + database_limit))
    shift 2
    until "$@" >/dev/null 2>&1; do
        kill -0 "$process" 2>/dev/null || refuse "the database ended: $(tail -n 5 "$log")"
        [ $SECONDS -lt $deadline ] || refuse "the database did not answer within $database_limit s: $(tail -n 5 "$log")"
        sleep 0.1
    done
}

# find_postgresql: sets $postgresql to the folder of its programs, the latest version if there are several.
find_postgresql() {
    # Debian keeps the programs of each version in a folder of their own.
    needs postgresql /usr/lib/postgresql/*/bin/postgres
    postgresql=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
}

# make_postgresql OWNER: makes the database files in $data/postgresql, unless they are there.
make_postgresql() {
    local store=$data/postgresql log=$data/postgresql.log
    find_postgresql
    folder_of postgres "$store"
    [ ! -e "$store/PG_VERSION" ] || return 0
    # Any local user can connect while it runs.
    (cd "$store" && end=INT as_user postgres "$postgresql/initdb" -D "$store" -U "$1" --auth=trust --no-locale \
        --encoding=UTF8) >"$log" 2>&1 || refuse "initdb: $(tail -n 5 "$log")"
}

# run_postgresql PORT [OPTION...]: becomes the server, on the files of make_postgresql.
run_postgresql() {
    local port=$1 store=$data/postgresql
    shift
    cd "$store"
    end=INT
    as_user postgres "$postgresql/postgres" -D "$store" -p "$port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories= "$@"
}
