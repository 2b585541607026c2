/**
 * What receivers do with our deliveries: the verification code of docs/webhook-signatures.md, taken
 * from the guide itself and run in the languages that are on this machine, and the library of
 * Standard Webhooks; both against real deliveries.
 */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { signBody } from '../../../../../plugins/webhooks/sending/signature.js';
import { projectRoot } from '../../../../architecture/tree.js';
import { SHORT_RUN_JAVA_OPTIONS } from '../../../../support/programs.js';
import { Receiver, type Got } from '../../../../plugins/webhooks/receiver.js';
import { ADMIN, memoryFixture, type Fixture } from '../../../../plugins/webhooks/fixture.js';

const SECRET = 'whsec_test_0123456789abcdef';
const AT = 1_790_000_000;
const BODY =
  '{"id":"evt_01","event":"monitor.down","timestamp":"2026-09-21T14:13:20.000Z","project_slug":null,"data":{"source":"web-1","state":"down"}}';
const fixtures = join(projectRoot(), 'test', 'fixtures', 'webhooks');

const LANGUAGES = [
  { name: 'Node.js', fence: 'js', file: 'verify.mjs', driver: 'driver.mjs', command: [process.execPath, 'driver.mjs'] },
  { name: 'Python', fence: 'python', file: 'verify.py', driver: 'driver.py', command: ['python3', 'driver.py'] },
  { name: 'Go', fence: 'go', file: 'verify.go', driver: 'driver.go', command: ['go', 'run', 'verify.go', 'driver.go'] },
  {
    name: 'Java',
    fence: 'java',
    file: 'Verify.java',
    driver: null,
    command: ['java', ...SHORT_RUN_JAVA_OPTIONS, 'Verify.java'],
  },
] as const;

/** What a program prints, by lines; null when it is not on this machine. */
function run([program = '', ...args]: readonly string[], cwd: string, input: string): Promise<string[] | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(null) : reject(error)));
    child.on('close', (code) =>
      code === 0 ? resolve(out.trim().split(/\r?\n/)) : reject(new Error(`${program}: ${err}`)),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** The guide's first block in a language. */
async function shown(fence: string): Promise<string> {
  const guide = await readFile(join(projectRoot(), 'docs', 'webhook-signatures.md'), 'utf8');
  const code = new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1];
  return code ?? expect.fail(`the guide has no ${fence} code`);
}

interface Case {
  what: string;
  secret: string;
  timestamp: string;
  signature: string;
  previous: string;
  now: number;
  body: string;
  expected: 'valid' | 'invalid';
}

describe('webhooks: receivers', function () {
  let fixture: Fixture;
  let to: Receiver;
  /** The secret at creation and after a rotation; what was delivered before and after it. */
  const secrets = { first: '', second: '' };
  const got: { before: Got; after: Got } = { before: undefined as never, after: undefined as never };

  before(async () => {
    fixture = await memoryFixture();
    to = await Receiver.open();
    const given = { name: 'receiver', url: to.url, events: '*' };
    const { webhook, secret } = await fixture.registry.create(ADMIN, given);
    const send = async (title: string): Promise<Got> => {
      await fixture.emit({ data: { ref: 'shop-1', title } });
      await fixture.workers.waitUntilIdle();
      return to.got.at(-1) ?? expect.fail('nothing was delivered');
    };
    got.before = await send('Größe 🙂');
    secrets.first = secret ?? '';
    secrets.second = (await fixture.registry.rotateSecret(ADMIN, webhook.id)).secret;
    got.after = await send('after the rotation');
    await fixture.close();
    await to.close();
  });

  const real = (what: string, secret: string, { headers, body }: Got, expected: Case['expected']): Case => ({
    what,
    secret,
    timestamp: headers['x-svc-timestamp'] ?? '',
    signature: headers['x-svc-signature'] ?? '',
    previous: headers['x-svc-signature-previous'] ?? '',
    now: Number(headers['x-svc-timestamp']) + 2,
    body,
    expected,
  });

  const cases = (): Case[] => {
    const signature = signBody(SECRET, AT, BODY);
    const good = { secret: SECRET, timestamp: `${AT}`, signature, previous: '', now: AT + 10, body: BODY };
    const bad = { ...good, expected: 'invalid' } as const;
    const { before: one, after: two } = got;
    return [
      real('a delivery', secrets.first, one, 'valid'),
      real('a delivery with another secret', secrets.second, one, 'invalid'),
      real('after a rotation, the new secret', secrets.second, two, 'valid'),
      real('after a rotation, the one before', secrets.first, two, 'valid'),
      real('another delivery’s signature', secrets.first, { ...one, headers: two.headers }, 'invalid'),
      { ...good, what: 'the vector of contract 70', expected: 'valid' },
      { ...bad, what: 'a changed body', body: BODY.replace('web-1', 'web-2') },
      { ...bad, what: 'another secret', secret: 'other' },
      { ...bad, what: 'another timestamp', timestamp: `${AT + 1}` },
      { ...bad, what: 'an old one', now: AT + 301 },
      { ...bad, what: 'one of the future', now: AT - 301 },
      { ...bad, what: 'no signature', signature: '' },
      { ...bad, what: 'an invalid signature', signature: 'sha256=zz' },
      { ...bad, what: 'no timestamp', timestamp: '' },
      { ...bad, what: 'an invalid timestamp', timestamp: 'soon' },
    ];
  };

  for (const { name, fence, file, driver, command } of LANGUAGES) {
    it(`${name}: accepts only AOS deliveries with the code of the guide`, async function () {
      const folder = await mkdtemp(join(tmpdir(), 'aos-verify-'));
      try {
        const code = await shown(fence);
        // Java runs one file: the driver becomes the class's last member.
        const member = driver === null ? await readFile(join(fixtures, 'Driver.java'), 'utf8') : null;
        await writeFile(join(folder, file), member === null ? code : code.trimEnd().replace(/\}$/, member));
        if (driver !== null) await copyFile(join(fixtures, driver), join(folder, driver));
        const all = cases();
        const lines = all.map(({ secret, timestamp, signature, previous, now, body }) =>
          [secret, timestamp, signature, previous, now, Buffer.from(body).toString('base64')].join('\t'),
        );
        const verdicts = await run(command, folder, `${lines.join('\n')}\n`);
        if (verdicts === null) this.skip();
        expect(all.map(({ what }, i) => [what, verdicts[i]])).to.deep.equal(
          all.map(({ what, expected }) => [what, expected]),
        );
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  it('are verified by the Standard Webhooks library with the displayed secret', () => {
    const { headers, body } = got.before;
    expect(new Webhook(secrets.first).verify(body, headers)).to.deep.equal(JSON.parse(body));
    const changed = body.replace('shop-1', 'shop-2');
    for (const attempt of [
      () => new Webhook(secrets.second).verify(body, headers),
      () => new Webhook(secrets.first).verify(changed, headers),
      () => new Webhook(secrets.first).verify(body, { ...headers, 'webhook-id': 'evt_other' }),
      () => new Webhook(secrets.first).verify(body, { ...headers, 'webhook-timestamp': '1790000000' }),
    ])
      expect(attempt).to.throw(WebhookVerificationError);
  });

  it('are verified after a rotation with the old or the new secret', () => {
    const { headers, body } = got.after;
    for (const secret of [secrets.first, secrets.second])
      expect(new Webhook(secret).verify(body, headers)).to.deep.equal(JSON.parse(body));
  });

  it('are verified with a custom secret as raw bytes', async () => {
    const own = await memoryFixture();
    const receiver = await Receiver.open();
    try {
      await own.hook(receiver.url, { secret: 'correct horse battery' });
      await own.emit();
      await own.workers.waitUntilIdle();
      const { headers = {}, body = '' } = receiver.got[0] ?? {};
      const library = new Webhook('correct horse battery', { format: 'raw' });
      expect(library.verify(body, headers)).to.deep.equal(JSON.parse(body));
    } finally {
      await own.close();
      await receiver.close();
    }
  });
});
