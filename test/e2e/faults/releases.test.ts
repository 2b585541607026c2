/**
 * `kill -9` at random moments under parallel publishes (contract 40, publishing): the real program,
 * its store on disk, and a bug item that waits for each version. After each restart nothing
 * half-published is offered, nothing that was acknowledged is lost, `latest.json`, the documents
 * and the files agree; in the end every item was closed once and every `release.published` happened
 * once.
 *
 * `SVC_TEST_BUDGET` says how often the process is killed.
 */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { packageOf } from '../../plugins/releases/fixture.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';

const ROUNDS = scaleRepeats(1);
const CALLERS = 4;
const SETTLED_MS = 60_000;
const SETTINGS = {
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
};
const SCOPES = 'updateservice:publish,bugtracker:report,bugtracker:read,webhooks:manage';

interface Known {
  /** Version → item that waits for it. */
  items: Map<string, string>;
  acknowledged: Set<string>;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Publishes new versions, until its connection breaks. */
async function publisher(service: TestService, token: string, prefix: string, known: Known): Promise<void> {
  for (let n = 0; ; n++) {
    const version = `${prefix}.${n}`;
    try {
      const report = { project: 'shop', title: `Waits for ${version}`, resolved_in_build: version };
      const { body } = await service.request('POST', '/api/bugtracker/v1/report', token, report);
      known.items.set(version, String(body['id']));
      const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=${version}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' };
      const answer = await fetch(url, { method: 'POST', headers, body: packageOf({ 'app.txt': version }) });
      const reported = (await answer.json()) as { closed_items: string[] };
      expect(answer.status, JSON.stringify(reported)).to.equal(201);
      expect(reported.closed_items, version).to.deep.equal([String(body['id'])]);
      known.acknowledged.add(version);
    } catch (problem) {
      if (problem instanceof TypeError) return; // the connection is gone
      throw problem;
    }
  }
}

async function listed<T>(service: TestService, token: string, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor = ''; ;) {
    const { body } = await service.request('GET', `${path}&limit=200${cursor}`, token);
    const page = body as unknown as { items: T[]; next_cursor: string | null };
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

interface Release {
  version: string;
  package_url: string;
  package_sha256: string;
  manifest_sha256: string;
}

/** Files, documents and `latest.json` say the same; what was acknowledged is there. */
async function agree(service: TestService, token: string, known: Known, alone: boolean): Promise<string[]> {
  const releases = await listed<Release>(service, token, '/api/updateservice/v1/releases?product=shop');
  const versions = releases.map(({ version }) => version).toSorted();
  for (const version of known.acknowledged) expect(versions, 'acknowledged').to.include(version);
  for (const { version, package_url, package_sha256, manifest_sha256 } of releases) {
    const file = join(service.dataDir, package_url);
    expect(sha256(await readFile(file)), version).to.equal(package_sha256);
    expect(sha256(await readFile(join(file, '..', 'manifest.json'))), version).to.equal(manifest_sha256);
  }
  const latest = JSON.parse(await readFile(join(service.dataDir, 'releases/shop/stable/latest.json'), 'utf8')) as {
    releases: { version: string }[];
  };
  expect(latest.releases.map(({ version }) => version).toSorted()).to.deep.equal(versions);
  // Where several processes may serve one store, what arrives is taken for another's until it has
  // been still for a while.
  if (alone) expect(await readdir(join(service.dataDir, 'releases/.incoming'))).to.deep.equal([]);
  const { body } = await service.request('GET', '/api/updateservice/v1/check?product=shop&version=0', null);
  const offered = body['release'] as { version: string } | null;
  expect(offered?.version ?? null).to.equal(latest.releases[0]?.version ?? null);
  return versions;
}

describe('faults: kill -9 under parallel publishes', function () {
  this.timeout(300_000 + ROUNDS * 60_000);
  for (const engine of durableEngines) {
    it(`publishes completely or not at all, and only once, on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const service = await TestService.createStarted({ ...SETTINGS, ...settings });
      try {
        const alone = engine.name === 'sqlite';
        await service.createProject('shop');
        const token = await service.createToken(SCOPES);
        const known: Known = { items: new Map(), acknowledged: new Set() };
        for (let round = 1; round <= ROUNDS; round++) {
          const before = known.acknowledged.size;
          const callers = Array.from({ length: CALLERS }, (_, c) => publisher(service, token, `${round}.${c}`, known));
          const ended = Promise.all(callers);
          await Promise.race([ended, waitUntil('a publish', () => known.acknowledged.size > before)]);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
          await service.stop('SIGKILL');
          await ended;
          // Nobody kills it any more after the last round.
          await (round < ROUNDS ? service.start() : service.startInProcess());
          await agree(service, token, known, alone);
        }
        const published = await agree(service, token, known, alone);
        const eventsOf = (event: string): Promise<{ data: { version?: string; ref?: string; id?: string } }[]> =>
          listed(service, token, `/api/webhooks/v1/events?event=${event}`);
        await waitUntil(
          'every event',
          async () => (await eventsOf('release.published')).length >= published.length,
          SETTLED_MS,
        );
        const reported = (await eventsOf('release.published')).map(({ data }) => data.version ?? '');
        expect(reported.toSorted()).to.deep.equal(published);
        await waitUntil(
          'every item',
          async () => (await eventsOf('bug.resolved')).length >= published.length,
          SETTLED_MS,
        );
        const resolved = (await eventsOf('bug.resolved')).map(({ data }) => data.id ?? '');
        expect(resolved.toSorted()).to.deep.equal(
          published.map((version) => known.items.get(version) ?? '').toSorted(),
        );
      } finally {
        await service.dispose();
      }
    });
  }
});
