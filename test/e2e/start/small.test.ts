/** deploy/small.env: V8 looks for what it can give back sooner; how much it may hold is not less, however large the input. */
import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { until } from '../../harness.js';
import { TestService } from '../../support/service.js';
import { smallEnv } from '../../support/small-env.js';

const AT_ONCE = 16;
/** As long as the limits of a body allow (`limits.json_bytes`, `limits.inflated_bytes`), with room for the rest. */
const JSON_BYTES = 1_048_576 - 2_048;
const INFLATED_BYTES = 8_388_608 - 2_048;

const letter = (n: number): string => String.fromCharCode(97 + n);

/** Lines of a stack, all different: nothing of it is known from the report before. */
function stack(n: number, bytes: number): string {
  const lines: string[] = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const line = `    at load${at} (/srv/${letter(n)}/module${at}.ts:${at + 1}:13)`;
    length += JSON.stringify(line).length;
    if (length < bytes) lines.push(line);
  }
  return lines.join('\n');
}

describe('start: with the settings for little memory (sqlite)', function () {
  this.timeout(180_000);
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.started(await smallEnv());
    await service.project('small');
    token = await service.token('bugtracker:report,bugtracker:read');
  });
  after(() => service.dispose());

  it('takes the largest reports and envelopes side by side, and lists them', async () => {
    interface Sent {
      path: string;
      headers: Record<string, string>;
      body: Uint8Array;
    }
    const report = (n: number): Sent => ({
      path: '/api/errors/v1/report',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: Buffer.from(
        JSON.stringify({
          project: 'small',
          error_level: 'error',
          error_message: `the largest ${letter(n)}`,
          exception_class: `Largest${letter(n)}`,
          stack_trace: stack(n, JSON_BYTES),
        }),
      ),
    });
    const envelope = (n: number): Sent => {
      const id = n.toString(16).padStart(32, '0');
      const sentence = `${letter(n)} and what it did. `;
      const extra = { text: sentence.repeat(INFLATED_BYTES / sentence.length) };
      const event = { event_id: id, level: 'error', message: `inflated ${letter(n)}`, extra };
      const lines = [{ event_id: id }, { type: 'event' }, event].map((line) => JSON.stringify(line));
      return {
        path: '/api/1/envelope/',
        headers: {
          'content-type': 'application/x-sentry-envelope',
          'content-encoding': 'gzip',
          'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${token}`,
        },
        body: gzipSync(lines.join('\n'), { level: 1 }),
      };
    };
    /** What there is no room for is refused, and is to come again. */
    const taken = async ({ path, headers, body }: Sent): Promise<number> => {
      let status = 503;
      const send = async (): Promise<boolean> => {
        ({ status } = await fetch(service.url + path, { method: 'POST', headers, body }));
        return status !== 503;
      };
      await until(`${path} is answered`, send, 120_000);
      return status;
    };
    const answers = Array.from({ length: AT_ONCE }, (_, n) => [taken(report(n)), taken(envelope(n))]);
    const statuses = await Promise.all(answers.map((two) => Promise.all(two)));
    expect(statuses).to.deep.equal(answers.map(() => [201, 200]));
    const { status, body } = await service.request('GET', '/api/bugtracker/v1/bugs?limit=100', token);
    expect([status, (body['items'] as unknown[]).length]).to.deep.equal([200, 2 * AT_ONCE]);
    expect(await service.end()).to.equal(0);
    expect(service.stderr).to.equal('');
  });
});
