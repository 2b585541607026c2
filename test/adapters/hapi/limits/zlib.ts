/** zlib with what the types of Node 20 do not know. */
import zlib from 'node:zlib';

export const { gzipSync } = zlib;
/** Absent before Node 22.15. */
export const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };
