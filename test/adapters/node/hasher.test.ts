import { threadId } from 'node:worker_threads';
import bcrypt from 'bcryptjs';
import { expect } from 'chai';
import { argon2id } from 'hash-wasm';
import { ThreadHasher } from '../../../adapters/node/hasher.js';
import { ServiceError } from '../../../kernel/errors.js';

describe('ThreadHasher', () => {
  let hasher: ThreadHasher;
  beforeEach(() => {
    hasher = new ThreadHasher({ threads: 2 });
  });
  afterEach(async () => {
    await hasher.close();
  });

  it('hashes as $2y$ at cost 12 and verifies the hash', async () => {
    const hash = await hasher.hash('correct horse battery');
    expect(hash).to.match(/^\$2y\$12\$.{53}$/);
    expect(await hasher.verify('correct horse battery', hash)).to.deep.equal({ ok: true, rehash: false });
    expect(await hasher.verify('wrong horse battery', hash)).to.deep.equal({ ok: false, rehash: false });
  });

  it('hashes in worker threads', async () => {
    await Promise.all(Array.from({ length: 6 }, () => hasher.hash('password', 4)));
    expect(hasher.threads.size).to.be.within(1, 2);
    expect(hasher.threads.has(threadId)).to.equal(false);
  });

  it('terminates idle threads, and starts a new thread for the next password', async () => {
    const brief = new ThreadHasher({ threads: 2, idleMs: 1 });
    try {
      const hashes = await Promise.all([brief.hash('one', 4), brief.hash('two', 4)]);
      while (brief.threads.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const again = brief.verify('two', hashes[1]);
      expect(await again).to.deep.include({ ok: true });
      expect(brief.threads.size).to.equal(1);
    } finally {
      await brief.close();
    }
  });

  it('verifies $2a$, $2b$ and $2y$, and requests a rehash below cost 12', async () => {
    const weak = await bcrypt.hash('password', 4);
    for (const prefix of ['$2a$', '$2b$', '$2y$']) {
      const hash = prefix + weak.slice(4);
      expect(await hasher.verify('password', hash)).to.deep.equal({ ok: true, rehash: true });
      expect(await hasher.verify('other', hash)).to.deep.equal({ ok: false, rehash: false });
    }
  });

  it('rejects a password over 72 bytes or with a NUL, which bcrypt would truncate', async () => {
    const password = 'lantern-'.repeat(9);
    const hash = await hasher.hash(password, 4);
    expect(await hasher.verify(password, hash)).to.include({ ok: true });
    for (const longer of [
      `${password}x`,
      `${password}\0`,
      `${password}${'y'.repeat(1_000)}`,
      `${password.slice(0, -1)}\u00e9`,
    ])
      expect(await hasher.verify(longer, hash)).to.deep.equal({ ok: false, rehash: false });
    const short = await hasher.hash('short', 4);
    expect(await hasher.verify('short\0more', short)).to.include({ ok: false });
  });

  it('verifies Argon2 and requests a rehash', async () => {
    const hash = await argon2id({
      password: 'password',
      salt: Buffer.alloc(16, 7),
      parallelism: 1,
      iterations: 1,
      memorySize: 64,
      hashLength: 32,
      outputType: 'encoded',
    });
    expect(await hasher.verify('password', hash)).to.deep.equal({ ok: true, rehash: true });
    expect(await hasher.verify('other', hash)).to.deep.equal({ ok: false, rehash: false });
  });

  it('returns false after comparable work for a missing account and for corrupt or too expensive hashes', async () => {
    const before = hasher.threads.size;
    const argonHuge = `$argon2id$v=19$m=9999999,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    for (const hash of [null, '', 'x', '$2y$12$short', '$2y$31$' + 'A'.repeat(53), argonHuge]) {
      expect(await hasher.verify('password', hash)).to.deep.equal({ ok: false, rehash: false });
    }
    expect(hasher.threads.size).to.be.greaterThan(before);
  });

  it('rejects passwords with 503 when its queue is full', async () => {
    const calls = Array.from({ length: 300 }, () => hasher.hash('password', 4));
    const results = await Promise.allSettled(calls);
    const rejected = results.filter((result) => result.status === 'rejected');
    expect(rejected).to.have.lengthOf(300 - 256 - 2);
    for (const { reason } of rejected) {
      expect(reason).to.be.instanceOf(ServiceError);
      expect((reason as ServiceError).code).to.equal('overloaded');
    }
  });

  it('rejects queued passwords when it is closed', async () => {
    const waiting = hasher.hash('password', 12).then(
      () => null,
      (reason: unknown) => reason,
    );
    await hasher.close();
    const error = await waiting;
    expect((error as ServiceError).code).to.equal('not_ready');
  });

  it('rejects an invalid cost', async () => {
    for (const cost of [3, 16, 4.5, Number.NaN]) {
      const error = await hasher.hash('x', cost).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(TypeError);
    }
  });
});
