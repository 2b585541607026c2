/**
 * Attacks on `aos import` and `aos restore`, against the real program: an administrator is given an
 * archive that somebody has made or changed (docs/security.md, archives). Hashes and contents are
 * right, so that nothing but the attack is wrong with it.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { openDriver } from '../../../adapters/sqlite/driver/open.js';
import { STORE_ENTRY } from '../../../adapters/archive/backup/backup.js';
import { ContentsHash, parseEntryCollection } from '../../../adapters/archive/transfer/contents.js';
import { buildGzip, buildPackage, buildTarHeader, buildTar } from '../../support/archives.js';
import { prepareDataDir } from '../../support/prepared-data-dir.js';
import { runCli, runCliJson, buildServiceEnv } from '../../support/service.js';

interface Entry {
  name: string;
  content: Buffer;
}

const KEYS = ['data-key', 'license-key', 'release-key.pem'];
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const textEntry = (name: string, text: string): Entry => ({ name, content: Buffer.from(text) });
const part = (collection: string, text: string): Entry => textEntry(`collections/${collection}/000099.jsonl`, text);
const json = (value: unknown): string => JSON.stringify(value);

function unpack(archive: Buffer): Entry[] {
  const tar = gunzipSync(archive);
  const entries: Entry[] = [];
  for (let at = 0; tar[at] !== 0;) {
    const name = tar.toString('utf8', at, tar.indexOf(0, at));
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    entries.push({ name, content: tar.subarray(at + 512, at + 512 + size) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

/** With more entries before its contents, and the right hashes of all. */
function pack(entries: readonly Entry[], ...more: Entry[]): Buffer {
  const plain = entries.filter(({ name }) => !['hashes.json', 'contents.json'].includes(name));
  const isExport = plain.length < entries.length - 1;
  const whole = [...plain, ...more.filter(({ name }) => !name.startsWith('releases/'))];
  if (isExport) {
    const hash = new ContentsHash();
    for (const { name, content } of whole) {
      const collection = parseEntryCollection(name);
      if (collection !== null) hash.add(collection, content, content.toString().split('\n').length - 1);
    }
    whole.push(textEntry('contents.json', json(hash.getContents())));
  }
  whole.push(...more.filter(({ name }) => name.startsWith('releases/')));
  const listed = whole.map(({ name, content }) => ({ path: name, size: content.length, sha256: sha256(content) }));
  return buildGzip(buildTar(...whole, textEntry('hashes.json', json({ entries: listed }))));
}

const PACKAGE = buildPackage({ name: 'app.js', content: 'x' });
function placed(place: object): Entry[] {
  const whole = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any', ...place };
  const row = { place: whole, sha256: sha256(PACKAGE), texts: { manifest: '{}', signature: null } };
  return [
    { name: `releases/${sha256(PACKAGE)}.tar.gz`, content: PACKAGE },
    textEntry('releases/places/000001.json', json(row)),
  ];
}

type Attack = readonly [name: string, why: RegExp, archive: (whole: Entry[]) => Buffer];
const documents = (name: string, why: RegExp, collection: string, text: () => string): Attack => [
  name,
  why,
  (whole) => pack(whole, part(collection, text())),
];
const packages = (name: string, place: object): Attack => [
  name,
  /describes a package without a valid location/,
  (whole) => pack(whole, ...placed(place)),
];
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const head = (over: object) => (whole: Entry[]) =>
  pack(
    whole.map((entry) =>
      entry.name === 'archive.json'
        ? textEntry(entry.name, json({ ...(JSON.parse(String(entry.content)) as object), ...over }))
        : entry,
    ),
  );

const PACKAGES: readonly Attack[] = [
  packages('a channel that is a file of the store', { channel: 'latest.json' }),
  packages('a product that is a path', { product: '../keys' }),
  packages('a product that is an access file', { product: '.htaccess' }),
  packages('an invalid version', { version: 'latest.json' }),
  packages('an invalid platform', { platform: 'amiga' }),
];
const IMPORTS: readonly Attack[] = [
  documents('a document nested a million levels deep', /of more than 200 levels/, 'bugs_items', () => {
    return `{"id":"a","x":${nested(1_000_000)}}\n`;
  }),
  documents('a document of 20 million values', /of more than 1000000 values/, 'bugs_items', () => {
    return `{"id":"a","x":[${'1,'.repeat(20_000_000)}1]}\n`;
  }),
  documents('a part of a million documents', /more than 500000 documents/, 'bugs_items', () => {
    return Array.from({ length: 1_000_000 }, (_, n) => `{"id":"${n}"}\n`).join('');
  }),
  documents(
    'a line of 60 MB',
    /more than \d+ bytes/,
    'bugs_items',
    () => `{"id":"a","x":"${'x'.repeat(60_000_000)}"}\n`,
  ),
  documents('a document without an id', /is not a document/, 'bugs_items', () => '{"a":1}\n'),
  documents('a document with an empty id', /is not a document/, 'bugs_items', () => '{"id":""}\n'),
  documents('a table of SQLite as a collection', /does not belong in it/, 'sqlite_master', () => '{"id":"a"}\n'),
  documents('a mark of an import', /does not belong in it/, 'kernel_moves', () => '{"id":"import"}\n'),
  ['a head whose migrations are no list', /an incomplete archive\.json/, head({ migrations: 5 })],
  [
    'a head with a migration of a plugin without any',
    /unknown to this version/,
    head({ migrations: ['bugs:999-later'] }),
  ],
  [
    'a list of hashes that holds null',
    /hashes\.json without entries/,
    (whole) => buildGzip(buildTar(...whole.slice(0, -1), textEntry('hashes.json', '{"entries":[null]}'))),
  ],
  [
    'an entry that claims eight gigabytes',
    /more than \d+ bytes/,
    (whole) =>
      buildGzip(
        buildTar(
          ...whole.slice(0, 1),
          buildTarHeader({ name: 'collections/bugs_items/000001.jsonl', size: 8 * 1024 ** 3 - 1 }),
        ),
      ),
  ],
  ...PACKAGES,
];

/** Changes the file of a store. @returns nothing, or what takes its place */
type Corrupt = (path: string) => Buffer | void | Promise<Buffer | void>;
const sql =
  (...statements: string[]): Corrupt =>
  (path) => {
    const driver = openDriver(path);
    for (const statement of statements) driver.exec(statement);
    driver.exec('PRAGMA journal_mode = DELETE');
    driver.close();
  };
const schema = (text: string): Corrupt =>
  sql('PRAGMA writable_schema = ON', `UPDATE sqlite_master SET sql = ${text} WHERE name = 'bugs_items'`);
const first =
  (part: number): Corrupt =>
  async (path) => {
    const whole = await readFile(path);
    return whole.subarray(0, Math.floor(whole.length * part));
  };
const foreign = async (path: string, table: string): Promise<void> => {
  await rm(path);
  await sql(`CREATE TABLE ${table}`)(path);
};
const NOT_MADE = /it has the \w+ "\w+", which AOS did not create/;
const tables = (n: number): string =>
  `BEGIN; ${Array.from({ length: n }, (_, i) => `CREATE TABLE t${i} (a);`).join(' ')} COMMIT;`;

const STORES: readonly (readonly [name: string, why: RegExp, change: Corrupt])[] = [
  ['a trigger', NOT_MADE, sql('CREATE TRIGGER t AFTER INSERT ON access_audit BEGIN DELETE FROM access_accounts; END')],
  ['a view', NOT_MADE, sql('CREATE VIEW v AS SELECT * FROM access_tokens')],
  [
    'a view in the place of a collection',
    NOT_MADE,
    sql('ALTER TABLE bugs_items RENAME TO behind', `CREATE VIEW bugs_items AS SELECT * FROM behind, behind AS b`),
  ],
  ['a generated column', NOT_MADE, sql('ALTER TABLE bugs_items ADD COLUMN g AS (hex(zeroblob(400000000)))')],
  ['a table with a check', NOT_MADE, sql('CREATE TABLE more (a CHECK (length(hex(zeroblob(400000000))) > 0))')],
  ['an index over a function', NOT_MADE, sql('CREATE INDEX i ON kernel_jobs (length(hex(zeroblob(4))) )')],
  ['an index with a condition of a function', NOT_MADE, sql('CREATE INDEX i ON kernel_jobs (id) WHERE abs(body) > 1')],
  ['a virtual table of its own', NOT_MADE, sql('CREATE VIRTUAL TABLE v USING fts5(a, tokenize = trigram)')],
  ['20,000 tables more', /its schema is too large/, sql(tables(20_000))],
  ['a definition of 50 MB', /its schema is too large/, schema(`sql || ' -- ' || hex(zeroblob(25000000))`)],
  [
    'a definition that is no SQL',
    /that is not a store: the database is malformed/,
    schema(`'CREATE TABLE bugs_items (('`),
  ],
  ['a definition of another table', /that is not a store/, schema(`'CREATE TABLE access_tokens (id, body)'`)],
  ['half of its pages', /that is (?:truncated|not a store)/, first(0.5)],
  [
    'all but its last byte',
    /that is (?:truncated|not a store)/,
    async (path) => (await readFile(path)).subarray(0, -1),
  ],
  [
    'nothing but the first hundred bytes',
    /that is (?:truncated|not a store)/,
    async (path) => (await readFile(path)).subarray(0, 100),
  ],
  [
    'a page size that there is not',
    /that is not a store: the file is not a database/,
    async (path) => {
      const whole = await readFile(path);
      whole.writeUInt16BE(3, 16);
      return whole;
    },
  ],
  ['the tables of a foreign program', /that is not an AOS store/, (path) => foreign(path, 'moz_places (id, url)')],
  [
    'a header before 300 MB of zeros',
    /that is (?:truncated|not a store)/,
    async (path) => Buffer.concat([(await readFile(path)).subarray(0, 100), Buffer.alloc(300_000_000)]),
  ],
];

describe('malicious archives', function () {
  this.timeout(600_000);
  let folder: string;
  const at = (...names: string[]): string => join(folder, ...names);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-hostile-'));
    await prepareDataDir(at('first'), buildServiceEnv);
    const env = withOwnKeys('first');
    await runCliJson(env, ['export', at('e.tar.gz')]);
    await runCliJson(env, ['backup', at('b.tar.gz')]);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function withOwnKeys(name: string): NodeJS.ProcessEnv {
    const env = buildServiceEnv(at(name));
    delete env['SVC_RELEASE_PRIVATE_KEY'];
    return env;
  }

  async function rejected(command: 'import' | 'restore', why: RegExp, archive: Buffer): Promise<void> {
    await rm(at('target'), { recursive: true, force: true });
    await mkdir(at('target'));
    for (const key of KEYS) await cp(at('first', key), at('target', key)).catch(() => undefined);
    await writeFile(at('x.tar.gz'), archive, { mode: 0o600 });
    const files = async (): Promise<string[]> =>
      (await readdir(at('target'), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .toSorted();
    const before = await files();
    const { code, stderr } = await runCli(withOwnKeys('target'), [command, at('x.tar.gz')]);
    expect(stderr).to.match(why);
    expect(stderr.trim().split('\n')).to.have.lengthOf(1);
    expect(code).to.equal(1);
    expect(await files()).to.deep.equal(before);
  }

  for (const [name, why, archive] of IMPORTS)
    it(`aos import rejects ${name}, and changes nothing`, async () => {
      await rejected('import', why, archive(unpack(await readFile(at('e.tar.gz')))));
    });

  for (const [name, why, archive] of PACKAGES)
    it(`aos restore rejects ${name}, and changes nothing`, async () => {
      await rejected('restore', why, archive(unpack(await readFile(at('b.tar.gz')))));
    });

  /** The backup with another file of the store. */
  async function withStore(change: Corrupt): Promise<Entry[]> {
    const whole = unpack(await readFile(at('b.tar.gz')));
    const store = whole.find(({ name }) => name === STORE_ENTRY);
    await writeFile(at('store.db'), store?.content ?? '');
    const content = (await change(at('store.db'))) ?? (await readFile(at('store.db')));
    return whole.map((entry) => (entry === store ? { name: entry.name, content } : entry));
  }

  for (const [name, why, change] of STORES)
    it(`aos restore rejects a store with ${name}, and changes nothing`, async () => {
      await rejected('restore', why, pack(await withStore(change)));
    });

  it('aos restore rejects a write-ahead log next to the store, and changes nothing', async () => {
    const whole = unpack(await readFile(at('b.tar.gz')));
    await rejected(
      'restore',
      /contains .*-wal, which does not belong in it/,
      pack([...whole, textEntry(`${STORE_ENTRY}-wal`, 'x')]),
    );
  });

  it('aos restore accepts a store with the largest page size', async () => {
    const whole = await withStore(sql('PRAGMA journal_mode = DELETE', 'PRAGMA page_size = 65536', 'VACUUM'));
    await writeFile(at('large.tar.gz'), pack(whole), { mode: 0o600 });
    await mkdir(at('restored'));
    await runCliJson(withOwnKeys('restored'), ['restore', at('large.tar.gz')]);
    const { items } = await runCliJson<{ items: object[] }>(withOwnKeys('restored'), ['user', 'list']);
    expect(items).to.have.lengthOf(1);
  });

  it('aos import ignores key fingerprints in an archive', async () => {
    const whole = unpack(await readFile(at('e.tar.gz')));
    await writeFile(at('keys.tar.gz'), pack(whole, part('kernel_keys', '{"id":"forged","fingerprint":"00"}\n')));
    await mkdir(at('imported'));
    for (const key of KEYS) await cp(at('first', key), at('imported', key)).catch(() => undefined);
    await runCliJson(withOwnKeys('imported'), ['import', at('keys.tar.gz')]);
    await runCliJson(withOwnKeys('imported'), ['export', at('again.tar.gz')]);
    const rows = unpack(await readFile(at('again.tar.gz'))).filter(({ name }) => name.includes('kernel_keys'));
    expect(rows.map(({ content }) => String(content)).join('')).not.to.include('forged');
  });
});
