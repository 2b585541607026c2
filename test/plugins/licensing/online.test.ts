/** validate, deactivate and file over every engine: answers, places, signatures (contract 50). */
import 'reflect-metadata';
import { verify } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import canonicalize from 'canonicalize';
import { formatCanonicalJson } from '../../../lib/formats/canonical-json.js';
import { verifyLicenseAnswer, verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { generateKey, hashKey } from '../../../plugins/licensing/model/key.js';
import { DAY_MS } from '../../../lib/time.js';
import { getRejection } from '../../harness.js';
import { ADMIN, fixtureOn, memoryFixture, SHARED, STORES, TestSigner, type Fixture } from './fixture.js';

type Answer = Record<string, unknown> & {
  activation: { status: string | null; used: number; max: number | null } | null;
};

const ask = (f: Fixture, license_key: string, more: object = {}, takes = true): Promise<Answer> =>
  f.online.validate(license_key, { product: 'shop', ...more }, { takesSeat: takes, warnings: [] }) as Promise<Answer>;
const statusOf = async (f: Fixture, key: string, more: object = {}, takes = true): Promise<unknown> =>
  (await ask(f, key, more, takes))['status'];
const machine = (n: number): { machine_id: string } => ({ machine_id: `m-${n}` });

describe('licensing: validate', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = await memoryFixture();
  });
  afterEach(() => f.settled());

  it('returns every field, with a signature that covers all others', async () => {
    const { doc, key } = await f.license({
      licensee: 'Ada',
      features: { seats: 3.5, é: ['x'] },
      expires_at: '2027-01-01T00:00:00.000Z',
    });
    const answer = await ask(f, ` ${key.toLowerCase().replaceAll('-', ' ')}`, { ...machine(1), nonce: 'n-1' });
    const { key_id } = await f.signer.getKey();
    expect(answer).to.deep.include({
      status: 'active',
      valid: true,
      product: 'shop',
      expires_at: '2027-01-01T00:00:00.000Z',
      checked_at: f.clock.iso(),
      cache_ttl_hours: 72,
      licensee: 'Ada',
      features: { seats: 3.5, é: ['x'] },
      activation: { status: 'active', used: 1, max: 5 },
      nonce: 'n-1',
      key_sha256: doc.key_sha256,
      machine_id: 'm-1',
      alg: 'ed25519',
      kid: key_id,
    });
    const requested = { keySha256: doc.key_sha256, product: 'shop', machineId: 'm-1', nonce: 'n-1' };
    expect(verifyLicenseAnswer(JSON.parse(JSON.stringify(answer)), f.signer.pem, requested)).to.deep.equal({
      valid: true,
    });
    const { signature, ...covered } = answer;
    // The library, because this project's verifiers write the signed text by the code that the
    // server has.
    const text = Buffer.from(canonicalize(covered) ?? '');
    expect(verify(null, text, f.signer.pem, Buffer.from(String(signature), 'base64'))).to.equal(true);
    // Members that stand in their order are signed as they stand.
    expect(Object.keys(covered)).to.deep.equal(Object.keys(covered).sort());
    expect(Object.keys(covered['activation'] as object)).to.deep.equal(['max', 'status', 'used']);
    for (const name of Object.keys(answer).filter((one) => one !== 'signature')) {
      const forged = { ...answer, [name]: name === 'valid' ? false : 'x' };
      expect(verifyLicenseAnswer(forged, f.signer.pem, requested).valid, name).to.equal(false);
    }
    for (const other of [{ nonce: 'n-2' }, { machineId: 'm-2' }, { product: 'blog' }, { keySha256: '0' }])
      expect(verifyLicenseAnswer(answer, f.signer.pem, { ...requested, ...other })).to.deep.equal({
        valid: false,
        reason: 'wrong_question',
      });
    expect(verifyLicenseAnswer(answer, new TestSigner().pem, requested).reason).to.equal('unknown_key');
  });

  it('invalid and product_mismatch reveal nothing else', async () => {
    const { key } = await f.license({ licensee: 'Ada', expires_at: '2027-01-01T00:00:00.000Z' });
    const nothing = { licensee: null, features: null, expires_at: null, activation: null, valid: false };
    expect(await ask(f, generateKey(), machine(1))).to.deep.include({ status: 'invalid', product: 'shop', ...nothing });
    expect(await ask(f, 'no key at all')).to.deep.include({ status: 'invalid', ...nothing });
    expect(await ask(f, key, { product: 'blog', ...machine(1) })).to.deep.include({
      status: 'product_mismatch',
      product: 'blog',
      ...nothing,
    });
    expect(await f.deps.activations.count()).to.equal(0);
  });

  it('assigns no seat without machine_id or by GET', async () => {
    const { key } = await f.license({ max_activations: 1 });
    expect(await ask(f, key)).to.deep.include({ status: 'active', activation: null, machine_id: null });
    expect(await ask(f, key, machine(1), false)).to.deep.include({
      status: 'active',
      activation: { status: null, used: 0, max: 1 },
    });
    expect(await f.deps.activations.count()).to.equal(0);
    await ask(f, key, machine(1));
    expect((await ask(f, key, machine(1), false)).activation).to.deep.equal({ status: 'active', used: 1, max: 1 });
    expect(await statusOf(f, key, machine(2), false)).to.equal('machine_limit');
  });

  it('limit stores nothing, pending queues once, blocked persists, and an existing seat is reused', async () => {
    const { doc, key } = await f.license({ max_activations: 1 });
    expect(await statusOf(f, key, machine(1))).to.equal('active');
    expect(await ask(f, key, machine(2))).to.deep.include({
      status: 'machine_limit',
      activation: { status: null, used: 1, max: 1 },
    });
    expect(await f.deps.activations.count()).to.equal(1);
    await f.licenses.update(ADMIN, doc.id, { require_approval: true });
    expect(await statusOf(f, key, machine(2))).to.equal('machine_pending');
    expect(await statusOf(f, key, machine(2))).to.equal('machine_pending');
    expect(await f.deps.activations.count()).to.equal(2);
    await f.settled();
    expect(f.emitted.filter(({ event }) => event === 'license.machine_pending').map(({ data }) => data)).to.deep.equal([
      { id: doc.id, product: 'shop', client_ref: null, status: 'active', expires_at: null },
    ]);
    const two = (await f.machines.find(doc, 'm-2'))!;
    await f.activations.applyTransition(ADMIN, doc.id, two.id, 'approve');
    expect(await ask(f, key, machine(2))).to.deep.include({
      status: 'active',
      activation: { status: 'active', used: 2, max: 1 },
    });
    await f.activations.applyTransition(ADMIN, doc.id, two.id, 'block');
    expect(await statusOf(f, key, machine(2))).to.equal('machine_blocked');
    expect(await statusOf(f, key, machine(1))).to.equal('active');
    expect(await statusOf(f, key, machine(3))).to.equal('machine_pending');
    const three = (await f.machines.find(doc, 'm-3'))!;
    expect((await f.activations.applyTransition(ADMIN, doc.id, three.id, 'reject')).status).to.equal('released');
  });

  it('allows at most 100 pending machines', async () => {
    const { key } = await f.license({ max_activations: 1, require_approval: true });
    const [license] = (await f.deps.licenses.find()).items;
    await f.licenses.applyTransition(ADMIN, license!.id, 'approve');
    await ask(f, key, machine(0));
    const requested = await Promise.all(Array.from({ length: 120 }, (_, i) => statusOf(f, key, machine(i + 1))));
    expect(requested.filter((status) => status === 'machine_pending')).to.have.length(100);
    expect(requested.filter((status) => status === 'machine_limit')).to.have.length(20);
  });

  it('approvals beyond the maximum or a lower maximum never exceed the seats', async () => {
    const { doc, key } = await f.license({ max_activations: 4 });
    for (let i = 0; i < 4; i++) await ask(f, key, machine(i));
    await f.licenses.update(ADMIN, doc.id, { max_activations: 2 });
    expect(await statusOf(f, key, machine(9))).to.equal('machine_limit');
    for (const i of [0, 1, 2]) {
      const one = (await f.machines.find(doc, `m-${i}`))!;
      await f.activations.applyTransition(ADMIN, doc.id, one.id, 'release');
      expect(await f.machines.countUsed(doc)).to.equal(3 - i);
    }
    expect(await statusOf(f, key, machine(10))).to.equal('active');
    expect(await statusOf(f, key, machine(11))).to.equal('machine_limit');
    expect(await f.machines.countUsed(doc)).to.equal(2);
  });

  it('a released machine gets a seat again with the same activation', async () => {
    const { doc, key } = await f.license({ max_activations: 1 });
    await ask(f, key, machine(1));
    const first = (await f.machines.find(doc, 'm-1'))!;
    await f.activations.applyTransition(ADMIN, doc.id, first.id, 'release');
    expect(await statusOf(f, key, machine(2))).to.equal('active');
    expect(await statusOf(f, key, machine(1))).to.equal('machine_limit');
    const second = (await f.machines.find(doc, 'm-2'))!;
    await f.activations.applyTransition(ADMIN, doc.id, second.id, 'release');
    expect(await statusOf(f, key, machine(1))).to.equal('active');
    expect(await f.deps.activations.count()).to.equal(2);
  });

  it('last_seen and last_validated_at are written at most once a minute', async () => {
    const { doc, key } = await f.license();
    const began = f.clock.iso();
    await ask(f, key, { ...machine(1), app_version: '1.0' });
    f.clock.advance(59_000);
    await ask(f, key, { ...machine(1), app_version: '1.1' });
    expect((await f.machines.find(doc, 'm-1'))!.last_seen).to.equal(began);
    expect((await f.deps.licenses.get(doc.id))!).to.include({
      last_validated_at: began,
      last_validated_version: '1.0',
    });
    f.clock.advance(2_000);
    await ask(f, key, { ...machine(1), app_version: '1.1' });
    expect((await f.machines.find(doc, 'm-1'))!).to.include({ last_seen: f.clock.iso(), app_version: '1.1' });
    expect((await f.deps.licenses.get(doc.id))!).to.include({
      last_validated_at: f.clock.iso(),
      last_validated_version: '1.1',
    });
    // A clock that was ahead is put right.
    f.clock.set(f.clock.now() + 10_800_000);
    f.clock.advance(60_000);
    await ask(f, key, machine(1));
    f.clock.set(f.clock.now() - 10_800_000);
    f.clock.advance(60_000);
    await ask(f, key, machine(1));
    expect((await f.machines.find(doc, 'm-1'))!.last_seen).to.equal(f.clock.iso());
    expect((await f.deps.licenses.get(doc.id))!.last_validated_at).to.equal(f.clock.iso());
  });

  it('releases machines unseen for 90 days after their file expired, but never blocked machines', async () => {
    const { doc, key } = await f.license();
    for (const i of [1, 2, 3]) await ask(f, key, machine(i));
    await f.activations.applyTransition(ADMIN, doc.id, (await f.machines.find(doc, 'm-3'))!.id, 'block');
    await f.online.issueRequestedFile({ license_key: key, product: 'shop', ...machine(2), valid_days: 100 });
    f.clock.advance(90 * DAY_MS - 1);
    expect(await f.machines.releaseUnseen()).to.equal(0);
    f.clock.advance(2);
    expect(await f.machines.releaseUnseen()).to.equal(1);
    const states = async (): Promise<string[]> =>
      Promise.all([1, 2, 3].map(async (i) => (await f.machines.find(doc, `m-${i}`))!.status));
    expect(await states()).to.deep.equal(['released', 'active', 'blocked']);
    f.clock.advance(10 * DAY_MS);
    expect(await f.machines.releaseUnseen()).to.equal(1);
    expect(await states()).to.deep.equal(['released', 'released', 'blocked']);
  });

  it('canonical JSON of the verifiers equals that of the library', () => {
    const value = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 4 });
    fc.assert(
      fc.property(value, (json) => {
        const parsed: unknown = JSON.parse(JSON.stringify(json));
        expect(formatCanonicalJson(parsed as never)).to.equal(canonicalize(parsed));
      }),
    );
    const rfc = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27],
      string: '€$\u000F\nA\'B"\\\\"/',
      '\u20ac': 1,
      '\r': 2,
      דּ: 3,
      '1': 4,
      '😀': 5,
      '\u0080': 6,
      ö: 7,
    };
    expect(formatCanonicalJson(rfc)).to.equal(canonicalize(rfc));
    // JavaScript puts such names first, by their number.
    for (const numbers of [
      { 2: 1, 10: { 9: 1, 11: 2 } },
      { 1: [{ b: 1, a: 2 }], 2: { a: 1, b: 2 } },
      { a: 1, 10: 2 },
    ])
      expect(formatCanonicalJson(numbers as never)).to.equal(canonicalize(numbers));
  });
});

describe('licensing: deactivate', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = await memoryFixture();
  });
  const off = (key: string, more: object = {}): Promise<unknown> =>
    f.online.deactivate(SHARED, { license_key: key, ...more });

  it('releases a machine idempotently, but no unknown or blocked machine', async () => {
    const { doc, key } = await f.license();
    await ask(f, key, machine(1));
    for (let i = 0; i < 2; i++) {
      const done = (await off(key, machine(1))) as {
        status: string;
        released: boolean;
        activation: { status: string };
      };
      expect(done).to.include({ status: 'active', released: true });
      expect(done.activation.status).to.equal('released');
    }
    expect(await off(key, machine(2))).to.deep.equal({
      status: 'active',
      released: false,
      reason: 'unknown_machine',
      activation: null,
    });
    await ask(f, key, machine(3));
    await f.activations.applyTransition(ADMIN, doc.id, (await f.machines.find(doc, 'm-3'))!.id, 'block');
    expect(await off(key, machine(3))).to.deep.include({
      status: 'active',
      released: false,
      reason: 'blocked',
    });
    expect((await f.machines.find(doc, 'm-3'))!.status).to.equal('blocked');
  });

  it('deactivates without machine_id, revokes with permanent, and both are idempotent', async () => {
    const { doc, key } = await f.license();
    for (let i = 0; i < 2; i++)
      expect(await off(key)).to.deep.equal({ status: 'inactive', released: true, activation: null });
    for (let i = 0; i < 2; i++)
      expect(await off(key, { permanent: true })).to.deep.equal({
        status: 'revoked',
        released: true,
        activation: null,
      });
    expect(await off(key)).to.deep.equal({ status: 'revoked', released: true, activation: null });
    expect((await f.deps.licenses.get(doc.id))!.status).to.equal('revoked');
  });

  it('treats an expired license as active', async () => {
    const { key } = await f.license({ expires_at: '2026-01-01T00:00:00.000Z' });
    expect(await off(key)).to.deep.include({ status: 'inactive', released: true });
  });

  it('rejects a pending license or another product, and returns null without a valid key', async () => {
    const { key } = await f.license({ require_approval: true });
    expect(await off(key)).to.deep.equal({ refused: 'invalid_transition' });
    expect(await off(key, { product: 'blog' })).to.deep.equal({ refused: 'product_mismatch' });
    expect(await off(generateKey())).to.equal(null);
    expect(await off('x')).to.equal(null);
  });

  it('returns the same result to concurrent calls', async () => {
    const { key } = await f.license();
    const all = await Promise.all(Array.from({ length: 8 }, () => off(key)));
    for (const one of all) expect(one).to.deep.equal({ status: 'inactive', released: true, activation: null });
  });
});

describe('licensing: files', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = await memoryFixture();
  });
  const file = (key: string, more: object = {}): Promise<{ text?: string; status?: string }> =>
    f.online.issueRequestedFile({ license_key: key, product: 'shop', ...more });

  it('contain the contract’s fields, hold the seat until they expire, and end with the license', async () => {
    const { doc, key } = await f.license({ max_activations: 1, licensee: 'Ada', features: { pro: true } });
    const { text = '' } = await file(key, { ...machine(1), valid_days: 10 });
    const now = f.clock.now();
    const result = verifyLicenseFile(text, f.signer.pem, { product: 'shop', machineId: 'm-1', now });
    expect(result).to.deep.equal({
      valid: true,
      payload: {
        schema: 1,
        license_id: doc.id,
        key_sha256: hashKey(key),
        key_masked: doc.key_masked,
        product: 'shop',
        licensee: 'Ada',
        features: { pro: true },
        issued_at: f.clock.iso(),
        not_before: new Date(now - 3_600_000).toISOString(),
        valid_until: new Date(now + 10 * DAY_MS).toISOString(),
        expires_at: null,
        machine_id: 'm-1',
        cache_ttl_hours: 72,
      },
    });
    const own = (await f.machines.find(doc, 'm-1'))!;
    expect((await getRejection(f.activations.applyTransition(ADMIN, doc.id, own.id, 'release'))).message).to.include(
      'license file',
    );
    expect(await f.online.deactivate(SHARED, { license_key: key, ...machine(1) })).to.deep.include({
      released: false,
      reason: 'file_until',
    });
    f.clock.advance(10 * DAY_MS);
    expect((await f.activations.applyTransition(ADMIN, doc.id, own.id, 'release')).status).to.equal('released');
    const end = new Date(f.clock.now() + DAY_MS).toISOString();
    await f.licenses.extend(ADMIN, doc.id, end);
    const short = verifyLicenseFile((await file(key, machine(2))).text ?? '', f.signer.pem, { now: f.clock.now() });
    expect(short.payload?.valid_until).to.equal(end);
  });

  it('are rejected with the license state', async () => {
    const { doc, key } = await f.license({ max_activations: 1 });
    await file(key, machine(1));
    expect(await file(key, machine(2))).to.deep.equal({ status: 'machine_limit' });
    expect(await file(key, { ...machine(1), product: 'blog' })).to.deep.equal({ status: 'product_mismatch' });
    expect(await file(generateKey(), machine(1))).to.deep.equal({ status: 'invalid' });
    expect(await getRejection(file(key))).to.include({ status: 422 });
    await f.licenses.applyTransition(ADMIN, doc.id, 'deactivate');
    expect(await file(key, machine(1))).to.deep.equal({ status: 'inactive' });
    const unlimited = await f.license({ max_activations: null });
    const { text = '' } = await file(unlimited.key);
    expect(verifyLicenseFile(text, f.signer.pem, { now: f.clock.now() }).payload?.machine_id).to.equal(null);
  });
});

for (const engine of STORES) {
  describe(`licensing: concurrent machines (${engine.name})`, function () {
    let opened: Awaited<ReturnType<typeof engine.open>>;
    before(async function () {
      opened = await engine.open(() => this.skip());
    });
    after(() => opened?.close());

    it('assigns exactly five of five seats to many machines in two processes', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await a.license();
      const requested = await Promise.all(
        Array.from({ length: 200 }, (_, i) => statusOf(i % 2 === 0 ? a : b, key, machine(i))),
      );
      expect(requested.filter((status) => status === 'active')).to.have.length(5);
      expect(requested.filter((status) => status === 'machine_limit')).to.have.length(195);
      expect(await a.machines.countUsed(doc)).to.equal(5);
    });

    it('assigns a single seat to the same machine in two processes', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await a.license();
      const requested = await Promise.all(
        Array.from({ length: 20 }, (_, i) => statusOf(i % 2 ? a : b, key, machine(1))),
      );
      expect(new Set(requested)).to.deep.equal(new Set(['active']));
      expect(await a.machines.countUsed(doc)).to.equal(1);
    });

    it('never exceeds or loses seats under random changes in two processes', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await a.license({ max_activations: 3 });
      for (let round = 0; round < 6; round++) {
        await Promise.all(
          Array.from({ length: 24 }, async (_, i) => {
            const f = i % 2 ? a : b;
            if (i % 3 === 0) await f.online.deactivate(SHARED, { license_key: key, ...machine(i % 7) });
            else await ask(f, key, machine(i % 7));
          }),
        );
        expect(await a.machines.countUsed(doc)).to.be.at.most(3);
      }
      for (let i = 0; i < 7; i++) await ask(a, key, machine(i));
      expect(await a.machines.countUsed(doc)).to.equal(3);
    });
  });
}
