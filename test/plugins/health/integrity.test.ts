/**
 * The weekly examination of the store: its result is kept, shown by health, and a damaged store is
 * an error in the log.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { IntegrityChecker, type IntegrityCheckDoc } from '../../../plugins/health/integrity-checker.js';
import type { CorruptDocument } from '../../../ports/store/damage.js';
import type { StoreExaminationResult } from '../../../ports/store/examination.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';
import { fakeSystem } from './fakes.js';

describe('integrity check of the store', () => {
  const clock = new ManualClock('2026-11-22T03:10:00.000Z');
  const opened = (found: StoreExaminationResult | null, met: readonly CorruptDocument[] = []) => {
    const log = new RecordingLog();
    const rows = new MemoryStore().collection<IntegrityCheckDoc>('health_examinations');
    const runtime = fakeSystem({
      canExamineStore: found !== null,
      examineStore: () => Promise.resolve(found),
      listDamage: () => met,
    });
    return { integrity: new IntegrityChecker(runtime, clock, log, rows), log };
  };

  it('reports no result before the first check, and then the last result', async () => {
    const { integrity, log } = opened({ ok: true, documents: 7, damage: [], more: 0 });
    expect(await integrity.getStatus()).to.deep.equal({ ok: null, checked_at: null, damage: [] });
    await integrity.runCheck();
    expect(await integrity.getStatus()).to.deep.equal({ ok: true, checked_at: clock.iso(), damage: [] });
    expect(log.messages('error')).to.deep.equal([]);
  });

  it('logs an error when it finds damage', async () => {
    const damage = ['the document "a" of bugs_items: it is not UTF-8'];
    const { integrity, log } = opened({ ok: false, documents: 6, damage, more: 0 });
    await integrity.runCheck();
    expect(await integrity.getStatus()).to.deep.equal({ ok: false, checked_at: clock.iso(), damage });
    expect(log.messages('error')).to.have.length(1);
  });

  it('reports damage found by calls after the clock moved backwards', async () => {
    const met: CorruptDocument[] = [];
    const { integrity } = opened({ ok: true, documents: 7, damage: [], more: 0 }, met);
    clock.set(clock.now() + 3_600_000);
    await integrity.runCheck();
    clock.set(clock.now() - 3_600_000);
    met.push({ at: clock.iso(), place: { collection: 'bugs_items', id: 'a' } });
    expect(await integrity.getStatus()).to.include({ ok: false });
  });

  it('is disabled when the engine checks its files itself', async () => {
    const { integrity } = opened(null);
    await integrity.runCheck();
    expect(await integrity.getStatus()).to.equal(null);
  });
});
