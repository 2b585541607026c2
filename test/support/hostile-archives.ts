/**
 * Packages that every reader must reject: server, packager and agent (contract 40, refused
 * packages). Each names the entry that the error must name.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import { gzipOf, packageOf, paxHeader, paxRecord, TAR_END, tarEntry, tarHeader, tarOf } from './archives.js';
import { PACKAGE_LIMITS, type PackageLimits } from '../../lib/formats/archive.js';
import { times } from './budget.js';

export interface HostileArchive {
  what: string;
  entry: string;
  why: RegExp;
  only?: readonly string[];
  slow?: true;
  limits?: Partial<PackageLimits>;
  bytes: () => Buffer;
}

const GIB = 1024 ** 3;
/** The real limits are slow to test, so a run without a larger budget uses lower ones. */
const WHOLE = times(1) >= 4;
const MOST = WHOLE ? PACKAGE_LIMITS.unpackedBytes : GIB / 4;
const MOST_ENTRIES = WHOLE ? PACKAGE_LIMITS.entries : 20_000;
const WINDOWS = ['any', 'win-x64'] as const;
const good = { name: 'app.js', content: 'ok' };

const path = (what: string, name: string, why: RegExp, only?: readonly string[]): HostileArchive => ({
  what,
  entry: name,
  why,
  ...(only && { only }),
  bytes: () => packageOf(good, { name, content: 'x' }),
});

const kind = (what: string, type: string, why: RegExp): HostileArchive => ({
  what,
  entry: 'odd',
  why,
  bytes: () => packageOf(good, { name: 'odd', type, link: 'app.js' }),
});

const pair = (what: string, first: string, second: string, why = /differs .* only/): HostileArchive => ({
  what,
  entry: second,
  why,
  bytes: () => packageOf({ name: first, content: '1' }, { name: second, content: '2' }),
});

const whole = (what: string, why: RegExp, bytes: () => Buffer): HostileArchive => ({ what, entry: '', why, bytes });

const tar = (what: string, entry: string, why: RegExp, bytes: () => Buffer): HostileArchive => ({
  what,
  entry,
  why,
  bytes: () => gzipOf(bytes()),
});

const PATHS: readonly HostileArchive[] = [
  path('an absolute path', '/etc/passwd', /absolute/),
  path('a path that begins with ..', '../evil.js', /\.\./),
  path('.. inside a path', 'lib/../../evil.js', /\.\./),
  path('.. at the end of a path', 'lib/..', /\.\./),
  path('.. behind ./', './../evil.js', /\.\./),
  path('a root behind ./', './/etc/passwd', /absolute/),
  path('a dot inside a path', 'lib/./x.js', /has \. in its path/),
  path('an empty name inside a path', 'lib//x.js', /empty name/),
  path('a drive letter with a slash', 'C:/Windows/evil.dll', /drive letter/),
  path('a drive letter alone', 'c:evil.dll', /drive letter/),
  path('back-slashes', 'lib\\evil.dll', /back-slash/),
  path('.. with back-slashes', '..\\evil.dll', /back-slash/),
  path('a share of Windows', '\\\\host\\share\\x', /back-slash/),
  path('manifest.json at the root', 'manifest.json', /reserved/),
  path('manifest.json in other letters', 'MANIFEST.JSON', /reserved/),
  path('manifest.json behind ./', './manifest.json', /reserved/),
  path('manifest.json with a Kelvin-like long s', 'manife\u017ft.json', /reserved/),
  path('something below manifest.json', 'manifest.json/x', /reserved/),
  path('.htaccess at the root', '.htaccess', /reserved/),
  path('.htaccess in other letters', '.HTaccess', /reserved/),
  path('.update-agent', '.update-agent', /reserved/),
  path('below .update-agent', '.update-agent/journal.jsonl', /reserved/),
  path('below .update-agent in other letters', '.Update-Agent/state.json', /reserved/),
  path('a device', 'CON', /device/, WINDOWS),
  path('a device in a folder, with an extension', 'lib/nul.txt', /device/, WINDOWS),
  path('a device with two extensions', 'aux.tar.gz', /device/, WINDOWS),
  path('a device with a space before its extension', 'nul .txt', /device/, WINDOWS),
  path('a serial port', 'COM1.log', /device/, WINDOWS),
  path('a serial port with the number 0', 'com0.txt', /device/, WINDOWS),
  path('a serial port with a raised number', 'com\u00b9', /device/, WINDOWS),
  path('a printer', 'lpt9', /device/, WINDOWS),
  path('a folder named as a device', 'prn/readme.txt', /device/, WINDOWS),
  path('the console', 'CONIN$', /device/, WINDOWS),
  path('a dot at the end', 'readme.', /ends with a dot or a space/, WINDOWS),
  path('a space at the end', 'readme ', /ends with a dot or a space/, WINDOWS),
  path('a folder with a dot at the end', 'lib./x.js', /ends with a dot or a space/, WINDOWS),
  path('a hidden stream', 'app.js:evil', /Windows does not allow/, WINDOWS),
  path('a question mark', 'what?.txt', /Windows does not allow/, WINDOWS),
  path('a pipe sign', 'a|b', /Windows does not allow/, WINDOWS),
  path('quotation marks', '"a"', /Windows does not allow/, WINDOWS),
  path('the short name of .update-agent', 'UPDATE~1/state.json', /short name/, WINDOWS),
  {
    what: 'a NUL inside a name',
    entry: 'a',
    why: /NUL/,
    bytes: () => packageOf(good, { name: Buffer.from('a\0b'), content: 'x' }),
  },
  {
    what: 'a NUL in a pax path',
    entry: 'ab',
    why: /NUL/,
    bytes: () => packageOf(good, paxHeader({ path: 'a\0b' }), { name: 'x', content: 'x' }),
  },
  {
    what: 'a line break in a name',
    entry: 'ab',
    why: /control character/,
    bytes: () => packageOf(good, { name: 'a\nb', content: 'x' }),
  },
  {
    what: 'an escape sequence in a name',
    entry: 'a[31mb',
    why: /control character/,
    bytes: () => packageOf(good, { name: 'a\x1b[31mb', content: 'x' }),
  },
  {
    what: 'a C1 control character in a name',
    entry: 'ab',
    why: /control character/,
    bytes: () => packageOf(good, { name: 'a\u009bb', content: 'x' }),
  },
  {
    what: 'a name that is not UTF-8',
    entry: '',
    why: /not UTF-8/,
    bytes: () => packageOf(good, { name: Buffer.from([0x61, 0xff, 0xfe]), content: 'x' }),
  },
  {
    what: 'a pax path that is not UTF-8',
    entry: 'a\ufffd',
    why: /not UTF-8/,
    bytes: () => packageOf(good, paxHeader({ path: Buffer.from([0x61, 0xff]) }), { name: 'x' }),
  },
  {
    what: 'a pax path that leads outside',
    entry: '../evil.js',
    why: /\.\./,
    bytes: () => packageOf(good, paxHeader({ path: '../evil.js' }), { name: 'harmless', content: 'x' }),
  },
  {
    what: 'a GNU long name that leads outside',
    entry: '/etc/cron.d/evil',
    why: /absolute/,
    bytes: () => packageOf(good, longName('/etc/cron.d/evil'), { name: 'harmless', content: 'x' }),
  },
  {
    what: 'an absolute path through the prefix',
    entry: '/etc/passwd',
    why: /absolute/,
    bytes: () => packageOf(good, { name: 'passwd', prefix: '/etc', content: 'x' }),
  },
  {
    what: 'the root of the file system as a directory',
    entry: '/',
    why: /absolute/,
    bytes: () => packageOf(good, { name: '/', type: '5' }),
  },
  {
    what: 'a name of more than 255 bytes',
    entry: 'n'.repeat(200) + '…',
    why: /longer than 255 bytes/,
    bytes: () => packageOf(good, paxHeader({ path: 'n'.repeat(256) }), { name: 'x' }),
  },
  {
    what: 'a path of more than 2,048 bytes',
    entry: 'd/'.repeat(100) + '…',
    why: /longer than 2048 bytes/,
    bytes: () => packageOf(good, paxHeader({ path: 'd/'.repeat(1_024) + 'x' }), { name: 'x' }),
  },
];

const PAIRS: readonly HostileArchive[] = [
  pair('the same path twice', 'a.js', 'a.js', /twice/),
  pair('the same path, once with ./', 'a.js', './a.js', /twice/),
  pair('paths equal but for case', 'Readme.md', 'README.md'),
  pair('paths equal but for case, beyond ASCII', 'ä.txt', 'Ä.txt'),
  pair('ß and ss', 'straße.txt', 'STRASSE.txt'),
  pair('the capital ẞ and ss', 'STRAẞE.txt', 'strasse.txt'),
  pair('a ligature', 'ﬁle.txt', 'file.txt'),
  pair('the dotted İ of Turkish and i with a dot above', '\u0130.txt', 'i\u0307.txt'),
  pair('the Kelvin sign', '\u212a.txt', 'k.txt'),
  pair('the long s', '\u017f.txt', 's.txt'),
  pair('final sigma', 'ς.txt', 'Σ.txt'),
  pair('composed and decomposed', '\u00e9.txt', 'e\u0301.txt'),
  pair('composed and decomposed, in other case', '\u00c9.txt', 'e\u0301.txt'),
  pair('marks in another order', 'a\u0323\u0307.txt', 'a\u0307\u0323.txt'),
  pair('folders equal but for case', 'Lib/a.js', 'lib/b.js'),
  pair('a file, and a path below it', 'lib', 'lib/a.js', /a file and a directory/),
  pair('a path, and a file where its folder is', 'lib/a.js', 'lib', /a file and a directory/),
  pair('a file and a folder equal but for case', 'Lib', 'lib/a.js', /a file and a directory/),
  {
    what: 'a directory twice',
    entry: 'lib/',
    why: /twice/,
    bytes: () => packageOf(good, { name: 'lib/', type: '5' }, { name: 'lib/', type: '5' }),
  },
  {
    what: 'a directory where a file is',
    entry: 'app.js/',
    why: /a file and a directory/,
    bytes: () => packageOf(good, { name: 'app.js/', type: '5' }),
  },
];

const KINDS: readonly HostileArchive[] = [
  kind('a hard link', '1', /hard link/),
  kind('a symbolic link', '2', /symbolic link/),
  kind('a character device', '3', /character device/),
  kind('a block device', '4', /block device/),
  kind('a named pipe', '6', /named pipe/),
  kind('a contiguous file', '7', /unknown kind/),
  kind('a directory of an incremental dump', 'D', /unknown kind/),
  kind('the rest of a file of several volumes', 'M', /unknown kind/),
  kind('a sparse file of GNU', 'S', /sparse/),
  kind('the label of a volume', 'V', /unknown kind/),
  kind('a kind that nobody knows', 'Z', /unknown kind/),
  {
    what: 'a symbolic link through pax',
    entry: 'odd',
    why: /link/,
    bytes: () => packageOf(good, paxHeader({ linkpath: '/etc' }), { name: 'odd', content: 'x' }),
  },
  {
    what: 'a symbolic link with a long name',
    entry: 'the/long/name',
    why: /symbolic link/,
    bytes: () => packageOf(good, longName('the/long/name'), { name: 'short', type: '2', link: '/etc' }),
  },
  {
    what: 'a long link of GNU',
    entry: '././@LongLink',
    why: /link/,
    bytes: () => packageOf(good, { name: '././@LongLink', type: 'K', content: '/etc\0' }, { name: 'odd', type: '2' }),
  },
  {
    what: 'a sparse file of pax',
    entry: 'odd',
    why: /sparse/,
    bytes: () =>
      packageOf(good, paxHeader({ 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '9999999999' }), { name: 'odd' }),
  },
];

const HEADERS: readonly HostileArchive[] = [
  tar('a wrong checksum of a header', 'bad.js', /wrong checksum/, () =>
    tarOf(good, { name: 'bad.js', checksum: 1234 }),
  ),
  tar('a header without a checksum', 'bad.js', /wrong checksum/, () => {
    const header = tarHeader({ name: 'bad.js' });
    header.fill(0, 148, 156);
    return tarOf(good, header);
  }),
  tar('an unknown kind of tar', 'bad.js', /unknown kind of tar/, () => tarOf({ name: 'bad.js', magic: 'strange\0' })),
  tar('a size that is no number', 'bad.js', /broken number/, () =>
    tarOf({ name: 'bad.js', size: Buffer.from('00000000zz7\0') }),
  ),
  tar('a negative size', 'bad.js', /broken number/, () => tarOf({ name: 'bad.js', size: Buffer.alloc(12, 0xff) })),
  tar('a size beyond all numbers', 'bad.js', /broken number/, () =>
    tarOf({ name: 'bad.js', size: Buffer.concat([Buffer.from([0x80]), Buffer.alloc(11, 0xff)]) }),
  ),
  tar('a size beyond the limit', 'bad.js', /larger than/, () =>
    tarOf({ name: 'bad.js', size: Buffer.from('800000000000000300000000', 'hex') }),
  ),
  tar('a directory with content', 'lib/', /directory with content/, () =>
    tarOf(good, { name: 'lib/', type: '5', content: 'x' }),
  ),
  tar('a file with a slash at its end', 'lib/', /ends with a slash/, () => tarOf(good, { name: 'lib/', content: 'x' })),
  tar('a file without a name', '', /no name/, () => tarOf(good, { name: '', content: 'x' })),
  tar('two sizes', 'bad.js', /two sizes/, () =>
    tarOf(paxHeader({ path: 'bad.js', size: '0' }), { name: 'bad.js', content: 'x'.repeat(600) }),
  ),
  tar('a pax record that is cut', 'x', /broken pax record/, () =>
    tarOf({ name: 'x', type: 'x', content: '99 path=a\n' }),
  ),
  tar('a pax record without its length', 'x', /broken pax record/, () =>
    tarOf({ name: 'x', type: 'x', content: 'path=a\n' }),
  ),
  tar('a pax record of length 0', 'x', /broken pax record/, () =>
    tarOf({ name: 'x', type: 'x', content: '0 path=a\n' }),
  ),
  tar('a pax record without a key', 'x', /broken pax record/, () =>
    tarOf({ name: 'x', type: 'x', content: '6 =a \n' }),
  ),
  tar('a pax record without =', 'x', /broken pax record/, () => tarOf({ name: 'x', type: 'x', content: '9 patha \n' })),
  tar('two paths in one pax header', 'x', /two pax records/, () =>
    tarOf(
      { name: 'x', type: 'x', content: Buffer.concat([paxRecord('path', 'a'), paxRecord('path', '/b')]) },
      { name: 'a', content: '1' },
    ),
  ),
  tar('two pax headers for one entry', 'PaxHeaders/x', /more than one header/, () =>
    tarOf(paxHeader({ path: 'a' }), paxHeader({ path: 'b' }), { name: 'c' }),
  ),
  tar('a pax path and a long name', '././@LongLink', /more than one header/, () =>
    tarOf(paxHeader({ path: 'a' }), longName('b'), { name: 'c' }),
  ),
  tar('a pax header that describes nothing', 'PaxHeaders/x', /does not follow/, () =>
    tarOf(good, paxHeader({ path: 'a' })),
  ),
  tar('a pax header of more than 64 KiB', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    tarOf(paxHeader({ comment: 'x'.repeat(70_000) }), { name: 'a' }),
  ),
  tar('a pax header that claims gigabytes', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    Buffer.concat([tarHeader({ name: 'PaxHeaders/x', type: 'x', size: 0o77777777777 }), Buffer.alloc(2_048)]),
  ),
  tar('a long name of more than 64 KiB', '././@LongLink', /more than 65536 bytes/, () =>
    tarOf(longName('x'.repeat(70_000)), { name: 'a' }),
  ),
  tar('a global header that renames everything', '', /global pax record path/, () =>
    tarOf(paxHeader({ path: '../evil' }, 'g'), good),
  ),
  tar('a global header of more than 64 KiB', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    tarOf(paxHeader({ comment: 'x'.repeat(70_000) }, 'g'), good),
  ),
  tar('a global header between a header and its entry', 'PaxHeaders/x', /global header/, () =>
    tarOf(paxHeader({ path: 'a' }), paxHeader({ comment: 'c' }, 'g'), { name: 'b' }),
  ),
  tar('a file that is cut short', 'big.bin', /cut short/, () =>
    Buffer.concat([tarHeader({ name: 'big.bin', size: 5_000 }), Buffer.alloc(1_024, 1)]),
  ),
  tar('bytes between a file and the next header', 'app.js', /belong to nothing/, () => {
    const entry = tarEntry(good);
    entry[entry.length - 1] = 1;
    return tarOf(entry);
  }),
  tar('an archive without its end', '', /before the end of its archive/, () => tarEntry(good)),
  tar('an archive with half its end', '', /before the end of its archive/, () =>
    Buffer.concat([tarEntry(good), Buffer.alloc(512)]),
  ),
  tar('a second archive behind the first', '', /after the end of its archive/, () =>
    Buffer.concat([tarOf(good), tarOf(good)]),
  ),
  tar('one block of zeros inside', '', /after the end of its archive/, () =>
    Buffer.concat([tarEntry(good), Buffer.alloc(512), tarEntry({ name: 'b' }), TAR_END]),
  ),
  tar('an archive without a file', '', /no file/, () => tarOf({ name: 'lib/', type: '5' })),
];

const FRAMES: readonly HostileArchive[] = [
  whole('nothing', /no gzip file/, () => Buffer.alloc(0)),
  whole('a tar that is not compressed', /no gzip file/, () => tarOf(good)),
  whole('a zip file', /no gzip file/, () => Buffer.from('PK\x03\x04'.padEnd(200, '\0'))),
  whole('an unknown method', /unknown method/, () => gzipOf(tarOf(good), { method: 7 })),
  whole('a reserved flag', /unknown method or flag/, () => gzipOf(tarOf(good), { flags: 0x80 })),
  whole('a header that is cut', /inside its gzip header/, () => gzipOf(tarOf(good), { flags: 4 }).subarray(0, 11)),
  whole('a file name in the header without an end', /too long/, () =>
    gzipOf(tarOf(good), { flags: 8, fields: Buffer.alloc(5_000, 65) }),
  ),
  whole('a wrong checksum of the gzip header', /wrong checksum/, () =>
    gzipOf(tarOf(good), { flags: 2, fields: Buffer.from([1, 2]) }),
  ),
  whole('a wrong CRC', /wrong CRC/, () => gzipOf(tarOf(good), { crc: 1 })),
  whole('a wrong size', /wrong size/, () => gzipOf(tarOf(good), { size: 1 })),
  whole('a file cut inside its data', /broken or cut short/, () => packageOf(good).subarray(0, 60)),
  whole('a file cut inside its trailer', /broken|cut short|CRC/, () => packageOf(good).subarray(0, -3)),
  whole('data that is no deflate', /broken or cut short/, () =>
    Buffer.concat([gzipOf(tarOf(good)).subarray(0, 10), Buffer.alloc(100, 0xff)]),
  ),
  whole('trailing garbage', /after its only gzip member/, () =>
    Buffer.concat([packageOf(good), Buffer.from('garbage')]),
  ),
  whole('trailing zeros', /after its only gzip member/, () => Buffer.concat([packageOf(good), Buffer.alloc(512)])),
  whole('much trailing garbage', /after its only gzip member/, () =>
    Buffer.concat([packageOf(good), Buffer.alloc(1_000_000, 7)]),
  ),
  whole('a second member', /after its only gzip member/, () =>
    Buffer.concat([packageOf(good), packageOf({ name: 'b' })]),
  ),
  whole('an empty second member', /after its only gzip member/, () =>
    Buffer.concat([packageOf(good), gzipOf(Buffer.alloc(0))]),
  ),
  whole('a tar in two members', /after its only gzip member/, () => {
    const bytes = tarOf(good);
    return Buffer.concat([gzipOf(bytes.subarray(0, 512)), gzipOf(bytes.subarray(512))]);
  }),
];

const BOMBS: readonly HostileArchive[] = [
  {
    ...whole('more than 200:1', /200 times/, () => packageOf({ name: 'zeros', content: Buffer.alloc(65 * 1024 ** 2) })),
    entry: 'zeros',
    slow: true,
  },
  {
    ...whole('more than 200:1 at once', /200 times/, () =>
      packageOf({ name: 'zeros', content: Buffer.alloc(80 * 1024 ** 2) }),
    ),
    entry: 'zeros',
    slow: true,
  },
  {
    ...whole('an endless end', /200 times/, () => gzipOf(Buffer.concat([tarOf(good), Buffer.alloc(66 * 1024 ** 2)]))),
    entry: good.name,
    slow: true,
  },
  {
    what: `more than ${MOST_ENTRIES} entries`,
    entry: `f${MOST_ENTRIES}`,
    why: new RegExp(`one more than ${MOST_ENTRIES} entries`),
    slow: true,
    limits: { entries: MOST_ENTRIES },
    bytes: () => gzipOf(Buffer.concat([...manyEntries(MOST_ENTRIES + 1), TAR_END])),
  },
  {
    what: 'paths that are too long together',
    entry: '…',
    why: /too long/,
    slow: true,
    bytes: () => {
      const folder = Array.from({ length: 7 }, (_, i) => String(i).repeat(250)).join('/');
      const entries = Array.from({ length: 20_000 }, (_, i) =>
        Buffer.concat([paxHeader({ path: `${folder}/${noise(i)}` }), tarHeader({ name: 'x' })]),
      );
      return gzipOf(Buffer.concat([...entries, TAR_END]));
    },
  },
  {
    // Built from pieces that are compressed once and joined. Incompressible data keeps the ratio
    // below 200 to 1.
    what: `more than ${MOST / GIB} GiB`,
    entry: 'f0',
    why: new RegExp(`${MOST} bytes`),
    slow: true,
    limits: { unpackedBytes: MOST },
    bytes: tooMuch,
  },
];

export const HOSTILE_ARCHIVES: readonly HostileArchive[] = [
  ...PATHS,
  ...PAIRS,
  ...KINDS,
  ...HEADERS,
  ...FRAMES,
  ...BOMBS,
];

function longName(name: string): Buffer {
  return tarEntry({ name: '././@LongLink', type: 'L', content: `${name}\0` });
}

function manyEntries(count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => tarHeader({ name: `f${i}` }));
}

const noise = (i: number): string => crc32(String(i)).toString(16);

function tooMuch(): Buffer {
  const piece = GIB / 32;
  const noisy = Buffer.alloc(piece);
  for (let at = 0; at < 170_000; at += 4) noisy.writeUInt32LE(crc32(String(at)), at);
  const compressed = deflateRawSync(noisy, { finishFlush: 2, level: 1 });
  const files = 9;
  const perFile = Math.ceil((MOST + GIB / 8) / piece / files);
  const parts: Buffer[] = [];
  for (let file = 0; file < files; file++) {
    const header = tarHeader({
      name: `f${file}`,
      size: Buffer.from(`${(piece * perFile).toString(8).padStart(11, '0')}\0`),
    });
    parts.push(deflateRawSync(header, { finishFlush: 2 }), ...Array.from({ length: perFile }, () => compressed));
  }
  parts.push(deflateRawSync(TAR_END));
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), ...parts, Buffer.alloc(8)]);
}
