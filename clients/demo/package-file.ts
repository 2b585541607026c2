import { gzipSync } from 'node:zlib';

const BLOCK_BYTES = 512;

export function buildPackage(path: string, content: string): Buffer {
  const bytes = Buffer.from(content);
  const padding = Buffer.alloc((BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return gzipSync(Buffer.concat([buildTarHeader(path, bytes.length), bytes, padding, Buffer.alloc(2 * BLOCK_BYTES)]));
}

function buildTarHeader(path: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  block.write(path, 0);
  block.write(octal(0o755, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\u0000 `, 148, 'latin1');
  return block;
}
