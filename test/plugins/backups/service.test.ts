/**
 * When the service makes a backup, and what it says of the newest one (contract 95, command line).
 */
import { expect } from 'chai';
import { isBackupDue, isBackupOverdue } from '../../../plugins/backups/schedule.js';
import type { View } from '../../../kernel/contract/index.js';
import { buildBackupPages } from '../../../plugins/backups/pages.js';
import { BackupService } from '../../../plugins/backups/service.js';
import { NO_BACKUPS, type BackupInfo, type Backups } from '../../../ports/store/backups.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';
import { getRejection } from '../../harness.js';
import { request, session } from '../health/fakes.js';
import { renderFile } from '../../web/templates.js';

const HOUR = 3_600_000;
const CONFIG = { every_hours: 24, path: 'backups', keep: 7 };
const state = { everyMs: 24 * HOUR, runningMs: HOUR, newestAgeMs: null, failedAgoMs: null };

describe('backup schedule', () => {
  it('is due without a recent backup, but never right after startup or when disabled', () => {
    expect(isBackupDue(state)).to.equal(true);
    expect(isBackupDue({ ...state, newestAgeMs: 24 * HOUR })).to.equal(true);
    expect(isBackupDue({ ...state, newestAgeMs: 23 * HOUR })).to.equal(false);
    expect(isBackupDue({ ...state, runningMs: 60_000 })).to.equal(false);
    expect(isBackupDue({ ...state, everyMs: 0 })).to.equal(false);
  });

  it('retries a failed backup after an hour, or after a shorter interval', () => {
    expect(isBackupDue({ ...state, failedAgoMs: HOUR - 1 })).to.equal(false);
    expect(isBackupDue({ ...state, failedAgoMs: HOUR })).to.equal(true);
    expect(isBackupOverdue(state)).to.equal(false);
    expect(isBackupOverdue({ ...state, runningMs: 26 * HOUR })).to.equal(true);
    expect(isBackupOverdue({ ...state, runningMs: 26 * HOUR, newestAgeMs: HOUR })).to.equal(false);
  });
});

describe('/system/backups', () => {
  const show = async (backups: Backups, config = CONFIG): Promise<string> => {
    const service = new BackupService(backups, new ManualClock(), new RecordingLog(), config);
    const [page] = buildBackupPages(service, config);
    if (page === undefined) throw new Error('no page');
    const { template, context } = (await page.handle(request(session('member'), {}))) as View;
    return renderFile(`plugins/backups/views/${template}.hbs`, { ...context, csrf_token: 'token' });
  };
  const newest: BackupInfo = { path: '/var/aos/backups/1.tar.gz', at: '2026-11-20T08:00:00.000Z', bytes: 2048 };

  it('shows the newest backup, the schedule and the commands', async () => {
    const html = await show({ ...NO_BACKUPS, folder: '/var/aos/backups', findNewest: async () => newest });
    for (const text of ['/var/aos/backups/1.tar.gz', '2.0 KiB', 'Daily', 'Up to date', 'aos restore'])
      expect(html, text).to.include(text);
  });

  it('says that no backup exists yet, and that backups are off', async () => {
    const backups = { ...NO_BACKUPS, folder: '/var/aos/backups' };
    expect(await show(backups)).to.include('None yet');
    expect(await show(backups, { ...CONFIG, every_hours: 0 })).to.include('>Off<');
  });

  it('refers to the tools of another database', async () => {
    expect(await show(NO_BACKUPS)).to.include('Use the tools of the database server.');
  });
});

describe('automatic backups', () => {
  const made: BackupInfo[] = [];
  let fail: Error | null = null;
  const clock = new ManualClock();
  const backups: Backups = {
    folder: '/var/aos/backups',
    findNewest: async () => made.at(-1) ?? null,
    create: async () => {
      if (fail) throw fail;
      const note = { path: `/var/aos/backups/${made.length}`, at: clock.iso(), bytes: 10 };
      made.push(note);
      return note;
    },
    recordMigration: async () => undefined,
  };
  const service = new BackupService(backups, clock, new RecordingLog(), CONFIG);
  const tick = (): Promise<void> => service.runIfDue(new AbortController().signal);

  it('run when due and are shown in health, which fails after a failure until a success', async () => {
    await tick();
    expect(made).to.have.length(0);
    expect(await service.checkHealth()).to.deep.include({ ok: true, last_at: null, path: '/var/aos/backups' });
    clock.advance(HOUR);
    await tick();
    await tick();
    expect(made).to.have.length(1);
    const health = await service.checkHealth();
    expect(health).to.deep.include({ ok: true, last_at: made[0]?.at, path: '/var/aos/backups/0', last_bytes: 10 });
    expect(health['note']).to.match(/operator .* another disk/);
    clock.advance(24 * HOUR);
    fail = new Error('There is no room for x: free some space.');
    expect((await getRejection(tick())).message).to.match(/no room/);
    expect(await service.checkHealth()).to.deep.include({ ok: false, error: fail.message, last_at: made[0]?.at });
    fail = null;
    await tick();
    expect(made).to.have.length(1);
    clock.advance(HOUR);
    await tick();
    expect(made).to.have.length(2);
    expect(await service.checkHealth()).to.include({ ok: true });
  });

  it('do not run on another engine, without an error', async () => {
    const other = new BackupService(NO_BACKUPS, clock, new RecordingLog(), CONFIG);
    await other.runIfDue(new AbortController().signal);
    expect(await other.checkHealth()).to.deep.include({ ok: true, last_at: null, path: null });
  });
});
