/**
 * Packages that every reader must reject: server, packager and agent (contract 40, refused
 * packages). Each names the entry that the error must name.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import {
  buildGzip,
  buildPackage,
  buildPaxHeader,
  buildPaxRecord,
  TAR_END,
  buildTarEntry,
  buildTarHeader,
  buildTar,
} from './archives.js';
import { PACKAGE_LIMITS, type PackageLimits } from '../../lib/formats/archive.js';
import { scaleRepeats } from './repeat-budget.js';

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
const USES_REAL_LIMITS = scaleRepeats(1) >= 4;
const MAX_UNPACKED_BYTES = USES_REAL_LIMITS ? PACKAGE_LIMITS.unpackedBytes : GIB / 4;
const MAX_ENTRIES = USES_REAL_LIMITS ? PACKAGE_LIMITS.entries : 20_000;
const WINDOWS_PLATFORMS = ['any', 'win-x64'] as const;
const goodEntry = { name: 'app.js', content: 'ok' };

const buildPathCase = (what: string, name: string, why: RegExp, only?: readonly string[]): HostileArchive => ({
  what,
  entry: name,
  why,
  ...(only && { only }),
  bytes: () => buildPackage(goodEntry, { name, content: 'x' }),
});

const buildKindCase = (what: string, type: string, why: RegExp): HostileArchive => ({
  what,
  entry: 'odd',
  why,
  bytes: () => buildPackage(goodEntry, { name: 'odd', type, link: 'app.js' }),
});

const buildPairCase = (what: string, first: string, second: string, why = /differs .* only/): HostileArchive => ({
  what,
  entry: second,
  why,
  bytes: () => buildPackage({ name: first, content: '1' }, { name: second, content: '2' }),
});

const buildArchiveCase = (what: string, why: RegExp, bytes: () => Buffer): HostileArchive => ({
  what,
  entry: '',
  why,
  bytes,
});

const buildTarCase = (what: string, entry: string, why: RegExp, bytes: () => Buffer): HostileArchive => ({
  what,
  entry,
  why,
  bytes: () => buildGzip(bytes()),
});

const PATH_CASES: readonly HostileArchive[] = [
  buildPathCase('an absolute path', '/etc/passwd', /absolute/),
  buildPathCase('a path that begins with ..', '../evil.js', /\.\./),
  buildPathCase('.. inside a path', 'lib/../../evil.js', /\.\./),
  buildPathCase('.. at the end of a path', 'lib/..', /\.\./),
  buildPathCase('.. behind ./', './../evil.js', /\.\./),
  buildPathCase('a root behind ./', './/etc/passwd', /absolute/),
  buildPathCase('a dot inside a path', 'lib/./x.js', /has \. in its path/),
  buildPathCase('an empty name inside a path', 'lib//x.js', /empty name/),
  buildPathCase('a drive letter with a slash', 'C:/Windows/evil.dll', /drive letter/),
  buildPathCase('a drive letter alone', 'c:evil.dll', /drive letter/),
  buildPathCase('back-slashes', 'lib\\evil.dll', /back-slash/),
  buildPathCase('.. with back-slashes', '..\\evil.dll', /back-slash/),
  buildPathCase('a share of Windows', '\\\\host\\share\\x', /back-slash/),
  buildPathCase('manifest.json at the root', 'manifest.json', /reserved/),
  buildPathCase('manifest.json in other letters', 'MANIFEST.JSON', /reserved/),
  buildPathCase('manifest.json behind ./', './manifest.json', /reserved/),
  buildPathCase('manifest.json with a Kelvin-like long s', 'manife\u017ft.json', /reserved/),
  buildPathCase('something below manifest.json', 'manifest.json/x', /reserved/),
  buildPathCase('.htaccess at the root', '.htaccess', /reserved/),
  buildPathCase('.htaccess in other letters', '.HTaccess', /reserved/),
  buildPathCase('.update-agent', '.update-agent', /reserved/),
  buildPathCase('below .update-agent', '.update-agent/journal.jsonl', /reserved/),
  buildPathCase('below .update-agent in other letters', '.Update-Agent/state.json', /reserved/),
  buildPathCase('a device', 'CON', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a device in a folder, with an extension', 'lib/nul.txt', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a device with two extensions', 'aux.tar.gz', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a device with a space before its extension', 'nul .txt', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a serial port', 'COM1.log', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a serial port with the number 0', 'com0.txt', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a serial port with a raised number', 'com\u00b9', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a printer', 'lpt9', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a folder named as a device', 'prn/readme.txt', /device/, WINDOWS_PLATFORMS),
  buildPathCase('the console', 'CONIN$', /device/, WINDOWS_PLATFORMS),
  buildPathCase('a dot at the end', 'readme.', /ends with a dot or a space/, WINDOWS_PLATFORMS),
  buildPathCase('a space at the end', 'readme ', /ends with a dot or a space/, WINDOWS_PLATFORMS),
  buildPathCase('a folder with a dot at the end', 'lib./x.js', /ends with a dot or a space/, WINDOWS_PLATFORMS),
  buildPathCase('a hidden stream', 'app.js:evil', /Windows does not allow/, WINDOWS_PLATFORMS),
  buildPathCase('a question mark', 'what?.txt', /Windows does not allow/, WINDOWS_PLATFORMS),
  buildPathCase('a pipe sign', 'a|b', /Windows does not allow/, WINDOWS_PLATFORMS),
  buildPathCase('quotation marks', '"a"', /Windows does not allow/, WINDOWS_PLATFORMS),
  buildPathCase('the short name of .update-agent', 'UPDATE~1/state.json', /short name/, WINDOWS_PLATFORMS),
  {
    what: 'a NUL inside a name',
    entry: 'a',
    why: /NUL/,
    bytes: () => buildPackage(goodEntry, { name: Buffer.from('a\0b'), content: 'x' }),
  },
  {
    what: 'a NUL in a pax path',
    entry: 'ab',
    why: /NUL/,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ path: 'a\0b' }), { name: 'x', content: 'x' }),
  },
  {
    what: 'a line break in a name',
    entry: 'ab',
    why: /control character/,
    bytes: () => buildPackage(goodEntry, { name: 'a\nb', content: 'x' }),
  },
  {
    what: 'an escape sequence in a name',
    entry: 'a[31mb',
    why: /control character/,
    bytes: () => buildPackage(goodEntry, { name: 'a\x1b[31mb', content: 'x' }),
  },
  {
    what: 'a C1 control character in a name',
    entry: 'ab',
    why: /control character/,
    bytes: () => buildPackage(goodEntry, { name: 'a\u009bb', content: 'x' }),
  },
  {
    what: 'a name that is not UTF-8',
    entry: '',
    why: /not UTF-8/,
    bytes: () => buildPackage(goodEntry, { name: Buffer.from([0x61, 0xff, 0xfe]), content: 'x' }),
  },
  {
    what: 'a pax path that is not UTF-8',
    entry: 'a\ufffd',
    why: /not UTF-8/,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ path: Buffer.from([0x61, 0xff]) }), { name: 'x' }),
  },
  {
    what: 'a pax path that leads outside',
    entry: '../evil.js',
    why: /\.\./,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ path: '../evil.js' }), { name: 'harmless', content: 'x' }),
  },
  {
    what: 'a GNU long name that leads outside',
    entry: '/etc/cron.d/evil',
    why: /absolute/,
    bytes: () => buildPackage(goodEntry, buildLongName('/etc/cron.d/evil'), { name: 'harmless', content: 'x' }),
  },
  {
    what: 'an absolute path through the prefix',
    entry: '/etc/passwd',
    why: /absolute/,
    bytes: () => buildPackage(goodEntry, { name: 'passwd', prefix: '/etc', content: 'x' }),
  },
  {
    what: 'the root of the file system as a directory',
    entry: '/',
    why: /absolute/,
    bytes: () => buildPackage(goodEntry, { name: '/', type: '5' }),
  },
  {
    what: 'a name of more than 255 bytes',
    entry: 'n'.repeat(200) + '…',
    why: /longer than 255 bytes/,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ path: 'n'.repeat(256) }), { name: 'x' }),
  },
  {
    what: 'a path of more than 2,048 bytes',
    entry: 'd/'.repeat(100) + '…',
    why: /longer than 2048 bytes/,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ path: 'd/'.repeat(1_024) + 'x' }), { name: 'x' }),
  },
];

const PAIR_CASES: readonly HostileArchive[] = [
  buildPairCase('the same path twice', 'a.js', 'a.js', /twice/),
  buildPairCase('the same path, once with ./', 'a.js', './a.js', /twice/),
  buildPairCase('paths equal but for case', 'Readme.md', 'README.md'),
  buildPairCase('paths equal but for case, beyond ASCII', 'ä.txt', 'Ä.txt'),
  buildPairCase('ß and ss', 'straße.txt', 'STRASSE.txt'),
  buildPairCase('the capital ẞ and ss', 'STRAẞE.txt', 'strasse.txt'),
  buildPairCase('a ligature', 'ﬁle.txt', 'file.txt'),
  buildPairCase('the dotted İ of Turkish and i with a dot above', '\u0130.txt', 'i\u0307.txt'),
  buildPairCase('the Kelvin sign', '\u212a.txt', 'k.txt'),
  buildPairCase('the long s', '\u017f.txt', 's.txt'),
  buildPairCase('final sigma', 'ς.txt', 'Σ.txt'),
  buildPairCase('composed and decomposed', '\u00e9.txt', 'e\u0301.txt'),
  buildPairCase('composed and decomposed, in other case', '\u00c9.txt', 'e\u0301.txt'),
  buildPairCase('marks in another order', 'a\u0323\u0307.txt', 'a\u0307\u0323.txt'),
  buildPairCase('folders equal but for case', 'Lib/a.js', 'lib/b.js'),
  buildPairCase('a file, and a path below it', 'lib', 'lib/a.js', /a file and a directory/),
  buildPairCase('a path, and a file where its folder is', 'lib/a.js', 'lib', /a file and a directory/),
  buildPairCase('a file and a folder equal but for case', 'Lib', 'lib/a.js', /a file and a directory/),
  {
    what: 'a directory twice',
    entry: 'lib/',
    why: /twice/,
    bytes: () => buildPackage(goodEntry, { name: 'lib/', type: '5' }, { name: 'lib/', type: '5' }),
  },
  {
    what: 'a directory where a file is',
    entry: 'app.js/',
    why: /a file and a directory/,
    bytes: () => buildPackage(goodEntry, { name: 'app.js/', type: '5' }),
  },
];

const KIND_CASES: readonly HostileArchive[] = [
  buildKindCase('a hard link', '1', /hard link/),
  buildKindCase('a symbolic link', '2', /symbolic link/),
  buildKindCase('a character device', '3', /character device/),
  buildKindCase('a block device', '4', /block device/),
  buildKindCase('a named pipe', '6', /named pipe/),
  buildKindCase('a contiguous file', '7', /unknown kind/),
  buildKindCase('a directory of an incremental dump', 'D', /unknown kind/),
  buildKindCase('the rest of a file of several volumes', 'M', /unknown kind/),
  buildKindCase('a sparse file of GNU', 'S', /sparse/),
  buildKindCase('the label of a volume', 'V', /unknown kind/),
  buildKindCase('an unknown kind', 'Z', /unknown kind/),
  {
    what: 'a symbolic link through pax',
    entry: 'odd',
    why: /link/,
    bytes: () => buildPackage(goodEntry, buildPaxHeader({ linkpath: '/etc' }), { name: 'odd', content: 'x' }),
  },
  {
    what: 'a symbolic link with a long name',
    entry: 'the/long/name',
    why: /symbolic link/,
    bytes: () => buildPackage(goodEntry, buildLongName('the/long/name'), { name: 'short', type: '2', link: '/etc' }),
  },
  {
    what: 'a long link of GNU',
    entry: '././@LongLink',
    why: /link/,
    bytes: () =>
      buildPackage(goodEntry, { name: '././@LongLink', type: 'K', content: '/etc\0' }, { name: 'odd', type: '2' }),
  },
  {
    what: 'a sparse file of pax',
    entry: 'odd',
    why: /sparse/,
    bytes: () =>
      buildPackage(goodEntry, buildPaxHeader({ 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '9999999999' }), {
        name: 'odd',
      }),
  },
];

const HEADER_CASES: readonly HostileArchive[] = [
  buildTarCase('a wrong checksum of a header', 'bad.js', /wrong checksum/, () =>
    buildTar(goodEntry, { name: 'bad.js', checksum: 1234 }),
  ),
  buildTarCase('a header without a checksum', 'bad.js', /wrong checksum/, () => {
    const header = buildTarHeader({ name: 'bad.js' });
    header.fill(0, 148, 156);
    return buildTar(goodEntry, header);
  }),
  buildTarCase('an unknown kind of tar', 'bad.js', /unknown tar format/, () =>
    buildTar({ name: 'bad.js', magic: 'strange\0' }),
  ),
  buildTarCase('a size that is no number', 'bad.js', /broken number/, () =>
    buildTar({ name: 'bad.js', size: Buffer.from('00000000zz7\0') }),
  ),
  buildTarCase('a negative size', 'bad.js', /broken number/, () =>
    buildTar({ name: 'bad.js', size: Buffer.alloc(12, 0xff) }),
  ),
  buildTarCase('a size beyond all numbers', 'bad.js', /broken number/, () =>
    buildTar({ name: 'bad.js', size: Buffer.concat([Buffer.from([0x80]), Buffer.alloc(11, 0xff)]) }),
  ),
  buildTarCase('a size beyond the limit', 'bad.js', /larger than/, () =>
    buildTar({ name: 'bad.js', size: Buffer.from('800000000000000300000000', 'hex') }),
  ),
  buildTarCase('a directory with content', 'lib/', /directory with content/, () =>
    buildTar(goodEntry, { name: 'lib/', type: '5', content: 'x' }),
  ),
  buildTarCase('a file with a slash at its end', 'lib/', /ends with a slash/, () =>
    buildTar(goodEntry, { name: 'lib/', content: 'x' }),
  ),
  buildTarCase('a file without a name', '', /no name/, () => buildTar(goodEntry, { name: '', content: 'x' })),
  buildTarCase('two sizes', 'bad.js', /two sizes/, () =>
    buildTar(buildPaxHeader({ path: 'bad.js', size: '0' }), { name: 'bad.js', content: 'x'.repeat(600) }),
  ),
  buildTarCase('a pax record that is cut', 'x', /broken pax record/, () =>
    buildTar({ name: 'x', type: 'x', content: '99 path=a\n' }),
  ),
  buildTarCase('a pax record without its length', 'x', /broken pax record/, () =>
    buildTar({ name: 'x', type: 'x', content: 'path=a\n' }),
  ),
  buildTarCase('a pax record of length 0', 'x', /broken pax record/, () =>
    buildTar({ name: 'x', type: 'x', content: '0 path=a\n' }),
  ),
  buildTarCase('a pax record without a key', 'x', /broken pax record/, () =>
    buildTar({ name: 'x', type: 'x', content: '6 =a \n' }),
  ),
  buildTarCase('a pax record without =', 'x', /broken pax record/, () =>
    buildTar({ name: 'x', type: 'x', content: '9 patha \n' }),
  ),
  buildTarCase('two paths in one pax header', 'x', /two pax records/, () =>
    buildTar(
      { name: 'x', type: 'x', content: Buffer.concat([buildPaxRecord('path', 'a'), buildPaxRecord('path', '/b')]) },
      { name: 'a', content: '1' },
    ),
  ),
  buildTarCase('two pax headers for one entry', 'PaxHeaders/x', /more than one header/, () =>
    buildTar(buildPaxHeader({ path: 'a' }), buildPaxHeader({ path: 'b' }), { name: 'c' }),
  ),
  buildTarCase('a pax path and a long name', '././@LongLink', /more than one header/, () =>
    buildTar(buildPaxHeader({ path: 'a' }), buildLongName('b'), { name: 'c' }),
  ),
  buildTarCase('a pax header that describes nothing', 'PaxHeaders/x', /is missing/, () =>
    buildTar(goodEntry, buildPaxHeader({ path: 'a' })),
  ),
  buildTarCase('a pax header of more than 64 KiB', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    buildTar(buildPaxHeader({ comment: 'x'.repeat(70_000) }), { name: 'a' }),
  ),
  buildTarCase('a pax header that claims gigabytes', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    Buffer.concat([buildTarHeader({ name: 'PaxHeaders/x', type: 'x', size: 0o77777777777 }), Buffer.alloc(2_048)]),
  ),
  buildTarCase('a long name of more than 64 KiB', '././@LongLink', /more than 65536 bytes/, () =>
    buildTar(buildLongName('x'.repeat(70_000)), { name: 'a' }),
  ),
  buildTarCase('a global header that renames everything', '', /global pax record path/, () =>
    buildTar(buildPaxHeader({ path: '../evil' }, 'g'), goodEntry),
  ),
  buildTarCase('a global header of more than 64 KiB', 'PaxHeaders/x', /more than 65536 bytes/, () =>
    buildTar(buildPaxHeader({ comment: 'x'.repeat(70_000) }, 'g'), goodEntry),
  ),
  buildTarCase('a global header between a header and its entry', 'PaxHeaders/x', /global header/, () =>
    buildTar(buildPaxHeader({ path: 'a' }), buildPaxHeader({ comment: 'c' }, 'g'), { name: 'b' }),
  ),
  buildTarCase('a file that is truncated', 'big.bin', /truncated/, () =>
    Buffer.concat([buildTarHeader({ name: 'big.bin', size: 5_000 }), Buffer.alloc(1_024, 1)]),
  ),
  buildTarCase('bytes between a file and the next header', 'app.js', /unexpected bytes/, () => {
    const entry = buildTarEntry(goodEntry);
    entry[entry.length - 1] = 1;
    return buildTar(entry);
  }),
  buildTarCase('an archive without its end', '', /before the end of its archive/, () => buildTarEntry(goodEntry)),
  buildTarCase('an archive with half its end', '', /before the end of its archive/, () =>
    Buffer.concat([buildTarEntry(goodEntry), Buffer.alloc(512)]),
  ),
  buildTarCase('a second archive behind the first', '', /after the end of its archive/, () =>
    Buffer.concat([buildTar(goodEntry), buildTar(goodEntry)]),
  ),
  buildTarCase('one block of zeros inside', '', /after the end of its archive/, () =>
    Buffer.concat([buildTarEntry(goodEntry), Buffer.alloc(512), buildTarEntry({ name: 'b' }), TAR_END]),
  ),
  buildTarCase('an archive without a file', '', /no file/, () => buildTar({ name: 'lib/', type: '5' })),
];

const FRAME_CASES: readonly HostileArchive[] = [
  buildArchiveCase('nothing', /not a gzip file/, () => Buffer.alloc(0)),
  buildArchiveCase('a tar that is not compressed', /not a gzip file/, () => buildTar(goodEntry)),
  buildArchiveCase('a zip file', /not a gzip file/, () => Buffer.from('PK\x03\x04'.padEnd(200, '\0'))),
  buildArchiveCase('an unknown method', /unknown method/, () => buildGzip(buildTar(goodEntry), { method: 7 })),
  buildArchiveCase('a reserved flag', /unknown method or flag/, () => buildGzip(buildTar(goodEntry), { flags: 0x80 })),
  buildArchiveCase('a header that is cut', /inside its gzip header/, () =>
    buildGzip(buildTar(goodEntry), { flags: 4 }).subarray(0, 11),
  ),
  buildArchiveCase('a file name in the header without an end', /too long/, () =>
    buildGzip(buildTar(goodEntry), { flags: 8, fields: Buffer.alloc(5_000, 65) }),
  ),
  buildArchiveCase('a wrong checksum of the gzip header', /wrong checksum/, () =>
    buildGzip(buildTar(goodEntry), { flags: 2, fields: Buffer.from([1, 2]) }),
  ),
  buildArchiveCase('a wrong CRC', /wrong CRC/, () => buildGzip(buildTar(goodEntry), { crc: 1 })),
  buildArchiveCase('a wrong size', /wrong size/, () => buildGzip(buildTar(goodEntry), { size: 1 })),
  buildArchiveCase('a file cut inside its data', /corrupt or truncated/, () => buildPackage(goodEntry).subarray(0, 60)),
  buildArchiveCase('a file cut inside its trailer', /corrupt|truncated|CRC/, () =>
    buildPackage(goodEntry).subarray(0, -3),
  ),
  buildArchiveCase('data that is no deflate', /corrupt or truncated/, () =>
    Buffer.concat([buildGzip(buildTar(goodEntry)).subarray(0, 10), Buffer.alloc(100, 0xff)]),
  ),
  buildArchiveCase('trailing garbage', /after its only gzip member/, () =>
    Buffer.concat([buildPackage(goodEntry), Buffer.from('garbage')]),
  ),
  buildArchiveCase('trailing zeros', /after its only gzip member/, () =>
    Buffer.concat([buildPackage(goodEntry), Buffer.alloc(512)]),
  ),
  buildArchiveCase('much trailing garbage', /after its only gzip member/, () =>
    Buffer.concat([buildPackage(goodEntry), Buffer.alloc(1_000_000, 7)]),
  ),
  buildArchiveCase('a second member', /after its only gzip member/, () =>
    Buffer.concat([buildPackage(goodEntry), buildPackage({ name: 'b' })]),
  ),
  buildArchiveCase('an empty second member', /after its only gzip member/, () =>
    Buffer.concat([buildPackage(goodEntry), buildGzip(Buffer.alloc(0))]),
  ),
  buildArchiveCase('a tar in two members', /after its only gzip member/, () => {
    const bytes = buildTar(goodEntry);
    return Buffer.concat([buildGzip(bytes.subarray(0, 512)), buildGzip(bytes.subarray(512))]);
  }),
];

const BOMB_CASES: readonly HostileArchive[] = [
  {
    ...buildArchiveCase('more than 200:1', /200 times/, () =>
      buildPackage({ name: 'zeros', content: Buffer.alloc(65 * 1024 ** 2) }),
    ),
    entry: 'zeros',
    slow: true,
  },
  {
    ...buildArchiveCase('more than 200:1 at once', /200 times/, () =>
      buildPackage({ name: 'zeros', content: Buffer.alloc(80 * 1024 ** 2) }),
    ),
    entry: 'zeros',
    slow: true,
  },
  {
    ...buildArchiveCase('an endless end', /200 times/, () =>
      buildGzip(Buffer.concat([buildTar(goodEntry), Buffer.alloc(66 * 1024 ** 2)])),
    ),
    entry: goodEntry.name,
    slow: true,
  },
  {
    what: `more than ${MAX_ENTRIES} entries`,
    entry: `f${MAX_ENTRIES}`,
    why: new RegExp(`one more than ${MAX_ENTRIES} entries`),
    slow: true,
    limits: { entries: MAX_ENTRIES },
    bytes: () => buildGzip(Buffer.concat([...buildManyEntries(MAX_ENTRIES + 1), TAR_END])),
  },
  {
    what: 'paths that are too long together',
    entry: '…',
    why: /too long/,
    slow: true,
    bytes: () => {
      const folder = Array.from({ length: 7 }, (_, i) => String(i).repeat(250)).join('/');
      const entries = Array.from({ length: 20_000 }, (_, i) =>
        Buffer.concat([buildPaxHeader({ path: `${folder}/${buildNoise(i)}` }), buildTarHeader({ name: 'x' })]),
      );
      return buildGzip(Buffer.concat([...entries, TAR_END]));
    },
  },
  {
    // Built from pieces that are compressed once and joined. Incompressible data keeps the ratio
    // below 200 to 1.
    what: `more than ${MAX_UNPACKED_BYTES / GIB} GiB`,
    entry: 'f0',
    why: new RegExp(`${MAX_UNPACKED_BYTES} bytes`),
    slow: true,
    limits: { unpackedBytes: MAX_UNPACKED_BYTES },
    bytes: buildOversizedArchive,
  },
];

export const HOSTILE_ARCHIVES: readonly HostileArchive[] = [
  ...PATH_CASES,
  ...PAIR_CASES,
  ...KIND_CASES,
  ...HEADER_CASES,
  ...FRAME_CASES,
  ...BOMB_CASES,
];

function buildLongName(name: string): Buffer {
  return buildTarEntry({ name: '././@LongLink', type: 'L', content: `${name}\0` });
}

function buildManyEntries(count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => buildTarHeader({ name: `f${i}` }));
}

const buildNoise = (i: number): string => crc32(String(i)).toString(16);

function buildOversizedArchive(): Buffer {
  const piece = GIB / 32;
  const noisy = Buffer.alloc(piece);
  for (let at = 0; at < 170_000; at += 4) noisy.writeUInt32LE(crc32(String(at)), at);
  const compressed = deflateRawSync(noisy, { finishFlush: 2, level: 1 });
  const files = 9;
  const perFile = Math.ceil((MAX_UNPACKED_BYTES + GIB / 8) / piece / files);
  const parts: Buffer[] = [];
  for (let file = 0; file < files; file++) {
    const header = buildTarHeader({
      name: `f${file}`,
      size: Buffer.from(`${(piece * perFile).toString(8).padStart(11, '0')}\0`),
    });
    parts.push(deflateRawSync(header, { finishFlush: 2 }), ...Array.from({ length: perFile }, () => compressed));
  }
  parts.push(deflateRawSync(TAR_END));
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), ...parts, Buffer.alloc(8)]);
}
