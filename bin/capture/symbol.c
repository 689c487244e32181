/* SPDX-License-Identifier: MIT */
#include "capture/symbol.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "base/message.h"
#include "trace/elffile.h"

static bool find_in(Elf *elf, Elf_Scn *section, const char *name, GElf_Sym *symbol)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	for (int i = 0; gelf_getsym(data, i, symbol); i++) {
		const char *text = elf_strptr(elf, header.sh_link, symbol->st_name);

		if (text && symbol->st_shndx != SHN_UNDEF && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static bool find(Elf *elf, const char *name, GElf_Sym *symbol)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    find_in(elf, section, name, symbol))
			return true;
	return false;
}

/* A position-independent program was moved.  Its entry point shows by how much. */
static bool find_bias(struct gdb *gdb, const struct elffile *file, uint64_t *bias)
{
	GElf_Ehdr header;
	uint64_t entry;

	*bias = 0;
	if (!gelf_getehdr(file->elf, &header) || header.e_type != ET_DYN)
		return true;
	if (!gdb_auxv(gdb, AT_ENTRY, file->elf_class == ELFCLASS64 ? 8 : 4, file->order == ELFDATA2MSB, &entry))
		return false;
	*bias = entry - header.e_entry;
	return true;
}

bool symbol_find(struct gdb *gdb, const char *path, const char *name, uint64_t *address, uint64_t *size)
{
	struct elffile file;
	GElf_Sym symbol;
	uint64_t bias;
	bool is_found;

	if (!elffile_open(&file, path)) {
		if (errno == ENOEXEC)
			message("%s is not an ELF file", path);
		else
			message_error(errno, "cannot read %s", path);
		return false;
	}
	is_found = find(file.elf, name, &symbol);
	if (!is_found) {
		message("%s has no symbol %s", path, name);
	} else if (!find_bias(gdb, &file, &bias)) {
		message("the stub does not say where %s was loaded: use --address", path);
		is_found = false;
	} else {
		*address = symbol.st_value + bias;
		*size = symbol.st_size;
	}
	elffile_close(&file);
	return is_found;
}
