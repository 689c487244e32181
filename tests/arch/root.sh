# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# root.sh: functions to make a root directory of an architecture of Debian, and to build in it.  A script sources this
# file.  As root, on Debian.  Environment:
#	PX_ARCH_DIR	where roots and builds are (build/arch)
#	PX_ARCH_SUITE	the suite of Debian (bookworm)
#	PX_ARCH_MIRROR	its mirror
#	PX_ARCH_CONFIGURE	more options of configure
#	PX_ARCH_JOBS	how many commands make runs side by side

arch_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/support/root.sh
. "$arch_top/tests/support/root.sh"
mirror=${PX_ARCH_MIRROR:-$mirror}
arch_dir=${PX_ARCH_DIR:-$PWD/arch}
arch_jobs=${PX_ARCH_JOBS:-$(getconf _NPROCESSORS_ONLN)}

# What the tests need, and the library and the tool.
arch_packages=build-essential,pkg-config,libelf-dev,check,libprotobuf-c-dev,protobuf-c-compiler,libbabeltrace2-dev
arch_packages=$arch_packages,babeltrace2,libdw-dev,libsqlite3-dev,libedit-dev,zlib1g-dev,liblzma-dev,libzstd-dev
arch_packages=$arch_packages,xz-utils,zstd,git,python3,python3-jsonschema,sqlite3,gdb,groff,man-db,procps,util-linux
arch_packages=$arch_packages,strace,iproute2,python3-cffi

# arch_choose ARCH: set what the other functions work on: arch, arch_triplet (of the compiler), arch_library (the
# directory below /usr/lib), arch_qemu (empty: programs run on the processor itself), arch_suite, arch_root, arch_build
arch_choose()
{
	arch=$1
	arch_suite=${PX_ARCH_SUITE:-bookworm}
	arch_qemu=
	case $arch in
	i386) arch_triplet=i686-linux-gnu ;;
	amd64) arch_triplet=x86_64-linux-gnu ;;
	armhf) arch_triplet=arm-linux-gnueabihf arch_qemu=qemu-arm ;;
	arm64) arch_triplet=aarch64-linux-gnu arch_qemu=qemu-aarch64 ;;
	riscv64) arch_triplet=riscv64-linux-gnu arch_qemu=qemu-riscv64 arch_suite=${PX_ARCH_SUITE:-trixie} ;;
	ppc64el) arch_triplet=powerpc64le-linux-gnu arch_qemu=qemu-ppc64le ;;
	s390x) arch_triplet=s390x-linux-gnu arch_qemu=qemu-s390x ;;
	*) fail "unknown architecture $arch: i386, armhf, arm64, riscv64, ppc64el, s390x, amd64" ;;
	esac
	arch_library=$arch_triplet
	[ "$arch" != i386 ] || arch_library=i386-linux-gnu
	arch_root=$arch_dir/root-$arch_suite-$arch
	arch_build=$arch_dir/build-$arch_suite-$arch
}

# Install what is missing on this machine, make the root directory if it is not there, and let the kernel run its
# programs.  A file inside the root says that it is whole, and with which packages.  An older root gets what it lacks.
arch_make_root()
{
	[ "$(id -u)" -eq 0 ] || fail 'only root can make a root directory of another architecture'
	mkdir -p "$arch_dir" "$arch_build" || exit 1
	want arch-test arch-test # by which mmdebstrap finds out what runs here
	if [ -n "$arch_qemu" ]; then
		want "$arch_qemu-static" qemu-user-static
		want update-binfmts binfmt-support
		want "$arch_triplet-gcc" "gcc-$(echo "$arch_triplet" | tr _ -)"
		[ -e /proc/sys/fs/binfmt_misc/register ] ||
			mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || fail 'no binfmt_misc'
		[ -e "/proc/sys/fs/binfmt_misc/$arch_qemu" ] || update-binfmts --enable "$arch_qemu" ||
			fail "no format $arch_qemu"
	fi
	if [ ! -e "$arch_root/.complete" ]; then
		echo "check-arch: $arch_suite for $arch, in $arch_root"
		rm -rf "$arch_root"
		make_root "$arch_suite" "$arch_packages" "$arch_root" --arch="$arch"
		echo "$arch_packages" >"$arch_root/.complete"
	elif [ "$(<"$arch_root/.complete")" != "$arch_packages" ]; then
		echo "check-arch: packages that the root of $arch_suite for $arch lacks"
		# shellcheck disable=SC2016  # expanded inside
		arch_in_root sh -ec 'apt-get update -qq
			apt-get install -y -qq --no-install-recommends $(echo "$1" | tr , " ") >/dev/null' - "$arch_packages" ||
			fail 'cannot install them'
		echo "$arch_packages" >"$arch_root/.complete"
	fi
	[ -n "$arch_qemu" ] || return 0
	# The root has its shared objects by absolute links, which a compiler outside cannot follow.
	find "$arch_root/usr/lib/$arch_library" "$arch_root/usr/lib64/" -maxdepth 1 -type l -lname '/*' 2>/dev/null |
		while read -r link; do
			ln -srf "$arch_root$(readlink "$link")" "$link"
		done
}

# arch_in_root COMMAND...: in the root; the sources and the build are at the same paths
arch_in_root()
{
	local binds=("$arch_top" "$arch_dir")
	in_root "$arch_root" env LANG=C "$@"
}

# arch_make TARGET...: make in the build, where a compiler is fast: a cross compiler outside of the root, because a
# compiler under qemu-user is slow; or in the root, if that runs on the processor itself
arch_make()
{
	if [ -z "$arch_qemu" ]; then
		# shellcheck disable=SC2086  # options
		[ -e "$arch_build/config.status" ] ||
			arch_in_root sh -c "cd '$arch_build' && '$arch_top/configure' -q ${PX_ARCH_CONFIGURE:-}" || return 1
		arch_in_root make -C "$arch_build" -s -k -j"$arch_jobs" "$@"
		return
	fi
	# shellcheck disable=SC2086  # options
	(
		export PKG_CONFIG_SYSROOT_DIR="$arch_root"
		export PKG_CONFIG_LIBDIR="$arch_root/usr/lib/$arch_library/pkgconfig:$arch_root/usr/share/pkgconfig"
		cd "$arch_build" || exit 1
		# Make in the root runs the awk that the root has, which may be another one than that outside.
		[ -e config.status ] || "$arch_top/configure" -q --host="$arch_triplet" \
			CC="$arch_triplet-gcc --sysroot=$arch_root" CXX="${CXX:-no}" AWK=awk ${PX_ARCH_CONFIGURE:-} || exit 1
		# Where the sources have a newer configure, make runs it, and must not give it these options.
		make -s Makefile || exit 1
		# No scripts of libtool: under qemu-user, such a script takes ten times as long as the tool.
		make -s -k -j"$arch_jobs" LDFLAGS=-no-install "$@"
	) || return 1
	arch_forget_headers
}

# make in the root takes an object for an old one if a header that it depends on is not there: those of the cross
# compiler, and in a machine of tests/vm those with the path of the root.  Headers of the sources stay in the lists.
arch_forget_headers()
{
	local headers="(/usr/(lib|$arch_triplet)|$arch_root)/"
	find "$arch_build" -path '*/.deps/*' -type f -exec grep -lZE "$headers" {} + |
		xargs -0r sed -i -E "s#${headers}[^ :]*:?##g"
}
