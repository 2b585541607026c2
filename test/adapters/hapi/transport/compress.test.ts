import { expect } from 'chai';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Compressor } from '../../../../adapters/hapi/transport/compressor.js';
import { SharedBytes } from '../../../../ports/http/index.js';

describe('hapi: compressed responses', () => {
  const text = 'what several answers share '.repeat(20_000);

  it('compresses shared bytes once per encoding for concurrent requests', async () => {
    const compressor = new Compressor();
    const shared = new SharedBytes([Buffer.from(text)]);
    const ask = (i: number) => compressor.compress(i % 2 === 0 ? 'br' : 'gzip', shared, `10.0.0.${i}`);
    const made = (await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i)))) as SharedBytes[];
    expect(new Set(made).size).to.equal(2);
    expect(await ask(0)).to.equal(made[0]);
    const [br, gzip] = made.map(({ parts }) => Buffer.concat(parts));
    expect(brotliDecompressSync(br as Buffer).toString()).to.equal(text);
    expect(gunzipSync(gzip as Buffer).toString()).to.equal(text);
  });

  it('compresses an unshared response separately', async () => {
    const made = await new Compressor().compress('gzip', Buffer.from(text), '10.0.0.1');
    expect(gunzipSync(made as Buffer).toString()).to.equal(text);
  });
});
