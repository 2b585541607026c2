/**
 * Removes unneeded parts of Node's binaries without platform tools: symbols of ELF files, and the
 * signature of a PE file, which our code would invalidate.
 */

const SHT_SYMTAB = 2;
const HEADER = 64;
const SECTION = 64;

/**
 * Removes the symbol table of a 64-bit little-endian ELF file. Other layouts than the linker's,
 * where it is last before the section headers, stay unchanged.
 * @param {Buffer} file
 * @returns {Buffer}
 */
export function withoutSymbols(file) {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error('not a 64-bit ELF file');
  const table = Number(file.readBigUInt64LE(40));
  const count = file.readUInt16LE(60);
  const names = file.readUInt16LE(62);
  const sections = Array.from({ length: count }, (_, index) => {
    const at = table + index * SECTION;
    return {
      index,
      header: file.subarray(at, at + SECTION),
      type: file.readUInt32LE(at + 4),
      flags: file.readBigUInt64LE(at + 8),
      offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)),
      link: file.readUInt32LE(at + 40),
    };
  });
  const symbols = sections.find(({ type }) => type === SHT_SYMTAB);
  const text = symbols && sections[symbols.link];
  const own = sections[names];
  if (!symbols || !text || !own || symbols.index !== count - 3 || text.index === names) return file;
  const kept = sections.filter(({ index }) => index !== symbols.index && index !== text.index);
  // Loaded data and every other section must lie before the symbols.
  if (kept.some((one) => one !== own && one.type !== 8 && one.offset + one.size > symbols.offset)) return file;
  const body = file.subarray(0, symbols.offset);
  const labels = file.subarray(own.offset, own.offset + own.size);
  const padding = Buffer.alloc((8 - ((body.length + labels.length) % 8)) % 8);
  const headers = Buffer.concat(
    kept.map((one) => {
      const header = Buffer.from(one.header);
      if (one === own) header.writeBigUInt64LE(BigInt(body.length), 24);
      return header;
    }),
  );
  const start = Buffer.from(body.subarray(0, HEADER));
  start.writeBigUInt64LE(BigInt(body.length + labels.length + padding.length), 40);
  start.writeUInt16LE(kept.length, 60);
  start.writeUInt16LE(kept.indexOf(own), 62);
  return Buffer.concat([start, body.subarray(HEADER), labels, padding, headers]);
}

/**
 * Removes the Authenticode signature at the end of a 64-bit PE file.
 * @param {Buffer} file
 * @returns {Buffer}
 */
export function withoutSignature(file) {
  if (file.toString('latin1', 0, 2) !== 'MZ') throw new Error('not a PE file');
  const pe = file.readUInt32LE(0x3c);
  if (file.toString('latin1', pe, pe + 4) !== 'PE\0\0' || file.readUInt16LE(pe + 24) !== 0x20b) {
    throw new Error('not a 64-bit PE file');
  }
  const optional = pe + 24;
  const security = optional + 112 + 4 * 8;
  const offset = file.readUInt32LE(security);
  const size = file.readUInt32LE(security + 4);
  if (offset === 0) return file;
  if (offset + size !== file.length) throw new Error('the signature is not at the end of the file');
  const bare = Buffer.from(file.subarray(0, offset));
  bare.fill(0, security, security + 8);
  bare.writeUInt32LE(0, optional + 64);
  return bare;
}
