/* SPDX-License-Identifier: MIT */
#include "log/origins.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/sink.h"
#include "txtb/file.h"

#define HEAD "PXTXORIGINS 1\n"
#define FOOTER "\nPXTXORIGINS-END %016" PRIx64 " %08" PRIx32
#define LINE_BYTES 1024

/* The sum is that of the bytes, whatever the byte order of the machine is (FNV-1a). */
static uint32_t sum_of(const char *text, size_t size)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	return sum;
}

/* Reading. */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode a name into `size` bytes, with a null byte at its end. */
static void decode(const char *text, char *name, size_t size)
{
	size_t length = 0;

	if (strcmp(text, "-") == 0)
		text = "";
	while (*text && length + 1 < size) {
		if (*text == '%' && digit_of(text[1]) >= 0 && digit_of(text[2]) >= 0) {
			name[length++] = (char)(digit_of(text[1]) << 4 | digit_of(text[2]));
			text += 3;
		} else {
			name[length++] = *text++;
		}
	}
	name[length] = '\0';
}

/* Read the line of an origin, and find its modules behind it.  Return the address behind them, or NULL. */
static const char *read_origin(const char *at, const char *end, struct px_origin *origin)
{
	const char *line_end = memchr(at, '\n', (size_t)(end - at));
	char line[LINE_BYTES], boot_id[120], host_name[200], name[200];
	uint64_t bytes;

	if (!line_end || (size_t)(line_end - at) >= sizeof(line))
		return NULL;
	memcpy(line, at, (size_t)(line_end - at));
	line[line_end - at] = '\0';
	memset(origin, 0, sizeof(*origin));
	if (sscanf(line,
		   "origin %" SCNu32 " %" SCNu32 " %32s %119s %" SCNd64 " %" SCNd64 " %" SCNd64
		   " %" SCNu64 " %199s %199s %" SCNu32,
		   &origin->host, &origin->pid, origin->uuid, boot_id, &origin->shift_ns,
		   &origin->drift, &origin->uncertainty_ns, &bytes, host_name, name,
		   &origin->pid_space) < 10 || /* earlier versions did not write the last one */
	    origin->host >= PX_HOSTS_MAX || bytes > (uint64_t)(end - line_end - 1))
		return NULL;
	decode(boot_id, origin->boot_id, sizeof(origin->boot_id));
	decode(host_name, origin->host_name, sizeof(origin->host_name));
	decode(name, origin->name, sizeof(origin->name));
	origin->modules = line_end + 1;
	origin->modules_bytes = (size_t)bytes;
	return line_end + 1 + bytes;
}

static int read_text(struct px_origins *origins, size_t size)
{
	const char *at = origins->text + strlen(HEAD), *end = origins->text + size;
	struct px_origin *larger;

	if (size < strlen(HEAD) || memcmp(origins->text, HEAD, strlen(HEAD)) != 0)
		return ENOENT;
	while (at < end) {
		if (origins->nr == PX_ORIGINS_MAX)
			return ENOENT;
		if ((origins->nr & (origins->nr + 1)) == 0 || !origins->origin) {
			larger = realloc(origins->origin, (2 * (size_t)origins->nr + 2) * sizeof(*larger));
			if (!larger)
				return ENOMEM;
			origins->origin = larger;
		}
		at = read_origin(at, end, &origins->origin[origins->nr]);
		if (!at)
			return ENOENT;
		origins->nr++;
	}
	return origins->nr > 0 ? 0 : ENOENT;
}

int px_origins_read(int fd, uint64_t size, struct px_origins *origins)
{
	char footer[PX_ORIGINS_FOOTER + 1] = "";
	uint64_t bytes;
	uint32_t sum;
	int error;

	*origins = (struct px_origins){0};
	if (size < PX_ORIGINS_FOOTER ||
	    px_txtb_file_read(fd, footer, PX_ORIGINS_FOOTER, size - PX_ORIGINS_FOOTER) !=
		    PX_ORIGINS_FOOTER ||
	    sscanf(footer, "\nPXTXORIGINS-END %16" SCNx64 " %8" SCNx32, &bytes, &sum) != 2 ||
	    *footer != '\n' || bytes > PX_ORIGINS_BYTES_MAX || bytes > size - PX_ORIGINS_FOOTER)
		return ENOENT;
	origins->text = malloc(bytes + 1);
	if (!origins->text)
		return ENOMEM;
	error = px_txtb_file_read(fd, origins->text, bytes, size - PX_ORIGINS_FOOTER - bytes) ==
					bytes &&
				sum_of(origins->text, bytes) == sum ?
			read_text(origins, bytes) :
			ENOENT;
	if (error)
		px_origins_free(origins);
	return error;
}

void px_origins_free(struct px_origins *origins)
{
	free(origins->origin);
	free(origins->text);
	*origins = (struct px_origins){0};
}

/*
 * Writing.  The text has no stream: the functions of stdio that write are wrapped in the preloaded object, which
 * contains this file.
 */

static char *encode(char *to, const char *name)
{
	static const char digits[] = "0123456789ABCDEF";

	if (*name == '\0')
		*to++ = '-';
	for (const char *at = name; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c > ' ' && c < 0x7f && c != '%' && (c != '-' || name[1] != '\0')) {
			*to++ = *at;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	return to;
}

/* Write at most LINE_BYTES, and the modules.  Return where they end. */
static char *put_origin(char *to, const struct px_origin *origin)
{
	_Static_assert(3 * (sizeof(origin->boot_id) + sizeof(origin->host_name) + sizeof(origin->name)) +
				       sizeof(origin->uuid) + 200 <= LINE_BYTES, "a line has room for an origin");

	to += sprintf(to, "origin %" PRIu32 " %" PRIu32 " %s ", origin->host, origin->pid,
		      *origin->uuid ? origin->uuid : "-");
	to = encode(to, origin->boot_id);
	to += sprintf(to, " %" PRId64 " %" PRId64 " %" PRId64 " %zu ", origin->shift_ns, origin->drift,
		      origin->uncertainty_ns, origin->modules_bytes);
	to = encode(to, origin->host_name);
	*to++ = ' ';
	to = encode(to, origin->name);
	to += sprintf(to, " %" PRIu32 "\n", origin->pid_space);
	if (origin->modules_bytes > 0)
		memcpy(to, origin->modules, origin->modules_bytes);
	return to + origin->modules_bytes;
}

static char *write_text(const struct px_origins *origins, size_t *size)
{
	size_t room = strlen(HEAD) + 1;
	char *text, *to;

	for (uint32_t i = 0; i < origins->nr; i++)
		room += LINE_BYTES + origins->origin[i].modules_bytes;
	text = malloc(room);
	if (!text)
		return NULL;
	to = stpcpy(text, HEAD);
	for (uint32_t i = 0; i < origins->nr; i++)
		to = put_origin(to, &origins->origin[i]);
	*size = (size_t)(to - text);
	return text;
}

int px_origins_append(int fd, const struct px_origins *origins)
{
	char footer[PX_ORIGINS_FOOTER + 1];
	size_t size = 0;
	struct stat status;
	char *text;
	int error;

	if (fstat(fd, &status) != 0)
		return errno;
	text = write_text(origins, &size);
	if (!text)
		return ENOMEM;
	error = snprintf(footer, sizeof(footer), FOOTER, (uint64_t)size, sum_of(text, size));
	memset(footer + error, ' ', PX_ORIGINS_FOOTER - (size_t)error);
	footer[PX_ORIGINS_FOOTER - 1] = '\n';
	error = px_log_write_to_fd(&fd, text, size, (uint64_t)status.st_size);
	if (!error)
		error = px_log_write_to_fd(&fd, footer, PX_ORIGINS_FOOTER,
					   (uint64_t)status.st_size + size);
	free(text);
	return error;
}

int px_origins_copy(int from, int to)
{
	struct px_origins origins;
	struct stat status;
	int error;

	if (fstat(from, &status) != 0)
		return errno;
	error = px_origins_read(from, (uint64_t)status.st_size, &origins);
	if (error)
		return error == ENOENT ? EINVAL : error;
	error = px_origins_append(to, &origins);
	px_origins_free(&origins);
	return error;
}
