/* SPDX-License-Identifier: MIT */
#include "export/perfetto_hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/origins.h"

#define BLOCK 512
#define NAME_BYTES 96

/* The header of a member, as POSIX defines ustar.  Numbers are octal digits. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6], version[2];
	char user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};

_Static_assert(sizeof(struct tar_header) == BLOCK, "a block");

/* A size that has no room as octal digits has 64 bits in big endian, as GNU tar does it. */
static void put_size(char field[12], uint64_t size)
{
	if (size < UINT64_C(1) << 33) {
		snprintf(field, 12, "%011llo", (unsigned long long)size);
		return;
	}
	memset(field, 0, 12);
	field[0] = (char)0x80;
	for (int i = 0; i < 8; i++)
		field[11 - i] = (char)(size >> 8 * i);
}

static void begin_member(struct text *text, const char *name, uint64_t size, int64_t time_ns)
{
	struct tar_header header;
	unsigned int sum = 0;

	memset(&header, 0, sizeof(header));
	memcpy(header.name, name, strlen(name));
	memcpy(header.mode, "0000644", 8);
	memcpy(header.uid, "0000000", 8);
	memcpy(header.gid, "0000000", 8);
	put_size(header.size, size);
	put_size(header.mtime, (uint64_t)(time_ns > 0 ? time_ns / NS_PER_S : 0));
	header.type = '0';
	memcpy(header.magic, "ustar", 6);
	memcpy(header.version, "00", 2);
	memset(header.sum, ' ', sizeof(header.sum));
	for (size_t i = 0; i < sizeof(header); i++)
		sum += ((const unsigned char *)&header)[i];
	snprintf(header.sum, sizeof(header.sum), "%06o", sum & 0777777);
	header.sum[7] = ' ';
	text_put(text, &header, sizeof(header));
}

static void put_zeros(struct text *text, size_t size)
{
	static const char zeros[2 * BLOCK];

	text_put(text, zeros, size);
}

static void end_member(struct text *text, uint64_t size)
{
	put_zeros(text, (size_t)(-size % BLOCK));
}

/* The name of a file in the archive: "1-alpha.perfetto-trace".  Characters that a shell would not like become '_'. */
static void name_file(struct source *source, unsigned int host, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%u-%.64s.perfetto-trace", host,
		 source_host(source, (pid_t)(host * TXTRACE_HOST_PIDS + 1)));
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-._", *at))
			*at = '_';
}

/* Machines with one name are one machine for Perfetto, so each host has another name. */
static void name_machine(struct source *source, unsigned int host, char name[NAME_BYTES])
{
	const char *own = source_host(source, (pid_t)(host * TXTRACE_HOST_PIDS + 1));
	bool is_taken = *own == '\0';

	for (unsigned int i = 0; i < source_nr_hosts(source); i++)
		is_taken |= i != host && strcmp(own, source_host(source, (pid_t)(i * TXTRACE_HOST_PIDS + 1))) == 0;
	if (is_taken)
		snprintf(name, NAME_BYTES, "%.64s (host %u)", own, host);
	else
		snprintf(name, NAME_BYTES, "%.64s", own);
}

static char *make_manifest(struct source *source, unsigned int nr, size_t *size)
{
	static struct text json;
	char name[NAME_BYTES], *manifest = NULL;
	FILE *to = open_memstream(&manifest, size);

	must(to);
	name_file(source, 0, name);
	fprintf(to,
		"{\"perfetto_manifest\": {\n \"version\": 1,\n"
		" \"trace_time\": {\"clock\": \"REALTIME\", \"file\": \"%s\"},\n \"files\": [",
		name);
	for (unsigned int i = 0; i < nr; i++) {
		name_file(source, i, name);
		fprintf(to, "%s\n  {\"path\": \"%s\", \"machine\": {\"name\": ", i > 0 ? "," : "", name);
		name_machine(source, i, name);
		json.used = 0;
		text_json(&json, name);
		fwrite(json.bytes, 1, json.used, to);
		fputs("}}", to);
	}
	fputs("\n ]\n}}\n", to);
	if (fclose(to) != 0)
		must(NULL);
	return manifest;
}

bool perfetto_hosts_write(struct text *text, struct source *source, struct packets *const *packets, unsigned int nr)
{
	char name[NAME_BYTES];
	bool is_fine = true;
	size_t size;
	char *manifest = make_manifest(source, nr, &size);

	begin_member(text, "perfetto_manifest.json", size, source->first_ns);
	text_put(text, manifest, size);
	end_member(text, size);
	free(manifest);
	for (unsigned int i = 0; is_fine && i < nr; i++) {
		name_file(source, i, name);
		begin_member(text, name, packets[i]->size, source->first_ns);
		is_fine = packets_copy(packets[i], text);
		end_member(text, packets[i]->size);
	}
	put_zeros(text, 2 * BLOCK);
	return is_fine;
}
