/**
 * What calls of the real service cost on MongoDB, in commands that it sends (docs/mongodb.md,
 * measured): exact upper bounds, so that they cannot grow unseen. Its jobs run beside, so of
 * several series the cheapest counts.
 */
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { durableEngines } from '../../../support/durable-engines.js';
import { CommandCounter } from '../../../support/mongo/command-counter.js';
import { TestService } from '../../../support/service.js';

/** What jobs ask beside the reports. */
const BESIDE = /^(kernel|probes|licensing|releases|watchdog|errorstream|notifications)_/;
const SERIES = 4;
/** On a machine that is busy with other things jobs come between the calls of each of them. */
const MOST_SERIES = 16;
const CALLS = 10;
/** Calls that cost much and differ little. */
const LARGE_CALLS = 3;
/** Two rounds of the jobs that run every half a minute, one of those of a minute. */
const IDLE_S = 64;

/** The most operations that a call may cost; docs/mongodb.md names them. */
const STATED = { known_error: 3.2, new_group: 10.4, idle_per_process_second: 4.2 };

describe('number of MongoDB operations', function () {
  let counter: CommandCounter;
  let service: TestService;
  let token: string;
  before(async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!settings) this.skip();
    const url = new URL(settings['SVC_STORAGE_URL'] ?? '');
    counter = await CommandCounter.startBefore({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${counter.port}`;
    url.searchParams.set('directConnection', 'true');
    const limits = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__NEW_GROUPS_PER_HOUR: '0' };
    service = await TestService.createStarted({ ...settings, ...limits, SVC_STORAGE_URL: url.href });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report,bugtracker:read');
    await post(error('Known'));
  });
  after(async () => {
    await service?.dispose();
    await counter?.close();
  });

  const error = (exception_class: string, more: object = {}): object => ({
    project: 'shop',
    error_level: 'error',
    error_message: 'Boom',
    exception_class,
    ...more,
  });
  const traceOf = (n: number): string =>
    `Error: Boom\n    at origin${'abcdefghij'[n % 10]}${n} (/app/src/file${n}.js:1:1)`;
  async function post(body: object): Promise<void> {
    const { status, body: answer } = await service.request('POST', '/api/errors/v1/report', token, body);
    expect(status, JSON.stringify(answer)).to.be.oneOf([200, 201]);
  }

  /** Commands that the calls may have sent. */
  const taken = (): number => counter.takeCommands().filter(({ collection }) => !BESIDE.test(collection)).length;

  /**
   * Of a call of the kind, on the average of a series of them: the cheapest, of more while all cost
   * more than this.
   */
  async function costOf(call: (n: number) => Promise<void>, atMost = 0, calls = CALLS): Promise<number> {
    const series: number[] = [];
    const most = atMost === 0 ? SERIES : MOST_SERIES;
    for (let i = 0; i < SERIES || (i < most && Math.min(...series) > atMost); i++) {
      counter.takeCommands();
      for (let n = 0; n < calls; n++) await call(i * calls + n);
      series.push(taken() / calls);
    }
    return Math.min(...series);
  }

  it('is below ten for a list of a hundred equal errors', async () => {
    const list = Array.from({ length: 100 }, () => error('Known'));
    expect(await costOf(() => post(list), 0, LARGE_CALLS)).to.be.at.most(9);
  });

  it('is below ten for a list of a hundred errors with references', async () => {
    const list = (at: number): object[] =>
      Array.from({ length: 100 }, (_, n) => error('Known', { client_ref: `${at} ${n}` }));
    expect(await costOf((n) => post(list(n)), 0, LARGE_CALLS)).to.be.at.most(9);
  });

  it('is below one per report for a hundred concurrent reports', async () => {
    const atOnce = async (): Promise<void> => {
      await Promise.all(Array.from({ length: 100 }, () => post(error('Known'))));
    };
    expect(await costOf(atOnce, 0, LARGE_CALLS)).to.be.at.most(50);
  });

  it('is at most 2.5 each for existing errors that arrive in pairs', async () => {
    const two = async (): Promise<void> => void (await Promise.all([post(error('Known')), post(error('Known'))]));
    expect((await costOf(two)) / 2).to.be.at.most(2.5);
  });

  it('is at most three for an existing error', async () => {
    const cost = await costOf(() => post(error('Known')), STATED.known_error);
    expect(cost).to.be.at.most(STATED.known_error);
  });

  it('is at most two higher for an existing error with a reference', async () => {
    const most = STATED.known_error + 2;
    expect(await costOf((n) => post(error('Known', { client_ref: `r${n}` })), most)).to.be.at.most(most);
  });

  it('includes only document writes and duplicate checks for consecutive new groups with batched events', async () => {
    const cost = await costOf((n) => post(error(`New${n}`)), STATED.new_group);
    expect(cost).to.be.at.most(STATED.new_group);
  });

  it('is three higher for a single new group, for its event', async () => {
    const costs: number[] = [];
    for (let n = 0; n < 4; n++) {
      // What the one before it left is told, and projects and rules are known again, which is asked
      // every two seconds.
      await pause(1_000);
      await post(error('Known'));
      taken();
      await post(error(`Lone${'abcd'[n] ?? ''}`));
      await pause(300);
      costs.push(taken());
    }
    expect(Math.min(...costs)).to.equal(12);
  });

  it('is at most two higher for a new group of an existing family', async () => {
    await post(error('Family', { stack_trace: traceOf(0) }));
    const most = STATED.new_group + 2;
    expect(await costOf((n) => post(error('Family', { stack_trace: traceOf(n + 1) })), most)).to.be.at.most(most);
  });

  it('stays below the limit per second for an idle process', async () => {
    counter.takeCommands();
    await pause(IDLE_S * 1_000);
    expect(counter.takeCommands().length / IDLE_S).to.be.at.most(STATED.idle_per_process_second);
  });
});
