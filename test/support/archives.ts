import { crc32, deflateRawSync } from 'node:zlib';

export interface TarEntry {
  name: string | Buffer;
  content?: string | Buffer;
  type?: string;
  mode?: number;
  link?: string;
  size?: number | Buffer;
  prefix?: string | Buffer;
  magic?: string;
  checksum?: number;
}

const formatOctal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

export function buildTarHeader(entry: TarEntry): Buffer {
  const block = Buffer.alloc(512);
  const put = (text: string | Buffer, at: number, width: number): void => {
    Buffer.from(text).copy(block, at, 0, width);
  };
  put(entry.name, 0, 100);
  put(formatOctal(entry.mode ?? 0o644, 8), 100, 8);
  put(formatOctal(0, 8), 108, 8);
  put(formatOctal(0, 8), 116, 8);
  const size = entry.size ?? Buffer.byteLength(entry.content ?? '');
  put(typeof size === 'number' ? formatOctal(size, 12) : size, 124, 12);
  put(formatOctal(0, 12), 136, 12);
  put(entry.type ?? '0', 156, 1);
  put(entry.link ?? '', 157, 100);
  put(entry.magic ?? 'ustar\x0000', 257, 8);
  put(entry.prefix ?? '', 345, 155);
  block.write('        ', 148);
  const sum = entry.checksum ?? block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export function buildTarEntry(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? '');
  return Buffer.concat([buildTarHeader(entry), content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

export function buildPaxRecord(key: string, value: string | Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')]);
  let length = body.length + 1;
  while (length !== String(length).length + body.length) length = String(length).length + body.length;
  return Buffer.concat([Buffer.from(String(length)), body]);
}

export const buildPaxHeader = (records: Readonly<Record<string, string | Buffer>>, type = 'x'): Buffer =>
  buildTarEntry({
    name: 'PaxHeaders/x',
    type,
    content: Buffer.concat(Object.entries(records).map(([key, value]) => buildPaxRecord(key, value))),
  });

export const TAR_END = Buffer.alloc(1024);

export const buildTar = (...entries: (TarEntry | Buffer)[]): Buffer =>
  Buffer.concat([...entries.map((entry) => (Buffer.isBuffer(entry) ? entry : buildTarEntry(entry))), TAR_END]);

export interface GzipOptions {
  flags?: number;
  fields?: Buffer;
  method?: number;
  crc?: number;
  size?: number;
}

export function buildGzip(content: Buffer, options: GzipOptions = {}): Buffer {
  const header = Buffer.from([0x1f, 0x8b, options.method ?? 8, options.flags ?? 0, 0, 0, 0, 0, 0, 255]);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(options.crc ?? crc32(content), 0);
  trailer.writeUInt32LE(options.size ?? content.length % 2 ** 32, 4);
  return Buffer.concat([header, options.fields ?? Buffer.alloc(0), deflateRawSync(content), trailer]);
}

export const buildPackage = (...entries: (TarEntry | Buffer)[]): Buffer => buildGzip(buildTar(...entries));
