import { expect } from 'chai';
import fc from 'fast-check';
import { KeyedMutex } from '../../lib/keyed-mutex.js';

describe('lib: keyed mutex', () => {
  it('serializes the work of one key in order, and runs other keys concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.constantFrom('a', 'b'), { maxLength: 12 }), async (s, keys) => {
        const mutex = new KeyedMutex();
        const running = new Map<string, number>();
        const done: Record<string, number[]> = { a: [], b: [] };
        const work = keys.map((key, i) =>
          mutex.run(key, async () => {
            running.set(key, (running.get(key) ?? 0) + 1);
            expect(running.get(key)).to.equal(1);
            await s.schedule(Promise.resolve());
            running.set(key, 0);
            done[key]?.push(i);
          }),
        );
        await s.waitFor(Promise.all(work));
        for (const key of ['a', 'b'])
          expect(done[key]).to.deep.equal(keys.flatMap((other, i) => (other === key ? [i] : [])));
      }),
    );
  });

  it('continues after a failure, which is reported only to its caller', async () => {
    const mutex = new KeyedMutex();
    const failed = mutex.run('a', () => Promise.reject(new Error('failed')));
    const next = mutex.run('a', async () => 'done');
    expect(await failed.catch((error: Error) => error.message)).to.equal('failed');
    expect(await next).to.equal('done');
  });
});
