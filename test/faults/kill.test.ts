/** `kill -9` under load: what was acknowledged is there afterwards, once (contract 00, storage). */
import { expect } from 'chai';
import { engines } from '../support/engines.js';
import { TestService } from '../support/service.js';

const ROUNDS = 4;
const CALLERS = 8;
const REPORTS_BEFORE_THE_KILL = 60;
const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

interface Acknowledged {
  /** `client_ref` → id of a bug report. */
  refs: Map<string, string>;
  /** Error group (by class) → how many occurrences were acknowledged, and how many were asked for. */
  counted: Map<string, number>;
  asked: Map<string, number>;
  comments: Map<string, string[]>;
}

/** One caller, until its connection breaks. */
async function report(
  service: TestService,
  token: string,
  caller: string,
  seen: Acknowledged,
  acknowledged: () => void,
): Promise<void> {
  for (let i = 0; ; i++) {
    const group = `Failure${i % 5}`;
    const ref = `${caller}-${i}`;
    seen.asked.set(group, (seen.asked.get(group) ?? 0) + 1);
    try {
      const error = await service.request('POST', '/api/errors/v1/report', token, {
        project: 'shop',
        error_level: 'error',
        error_message: 'boom',
        exception_class: group,
        file: 'src/a.ts',
      });
      expect(error.status).to.be.oneOf([200, 201]);
      seen.counted.set(group, (seen.counted.get(group) ?? 0) + 1);
      const bug = await service.request('POST', '/api/bugtracker/v1/report', token, {
        project: 'shop',
        title: `bug ${ref}`,
        client_ref: ref,
        file_path: `src/${ref}.ts`,
      });
      expect(bug.status).to.equal(201);
      const id = String(bug.body['id']);
      seen.refs.set(ref, id);
      const comment = await service.request('POST', `/api/bugtracker/v1/bugs/${id}/comments`, token, {
        body: `seen ${ref}`,
      });
      expect(comment.status).to.equal(201);
      seen.comments.set(id, [...(seen.comments.get(id) ?? []), `seen ${ref}`]);
      acknowledged();
    } catch (problem) {
      if (problem instanceof TypeError) return; // the connection is gone
      throw problem;
    }
  }
}

async function checkAll(service: TestService, token: string, seen: Acknowledged): Promise<void> {
  for (const [ref, id] of seen.refs) {
    const again = await service.request('POST', '/api/bugtracker/v1/report', token, {
      project: 'shop',
      title: `bug ${ref}`,
      client_ref: ref,
      file_path: `src/${ref}.ts`,
    });
    expect(again.status, ref).to.equal(200);
    expect(again.body['id'], ref).to.equal(id);
    expect(again.body['created'], ref).to.equal(false);
    const detail = await service.request('GET', `/api/bugtracker/v1/bugs/${id}`, token);
    const bodies = (detail.body['comments'] as { body: string }[]).map((c) => c.body);
    expect(bodies, ref).to.have.members(seen.comments.get(id) ?? bodies);
  }
  const list = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop&type=error&limit=200', token);
  const items = list.body['items'] as { exception_class: string; hit_count: number }[];
  expect(items.map((i) => i.exception_class).sort()).to.deep.equal(
    [...new Set(items.map((i) => i.exception_class))].sort(),
  );
  for (const [group, counted] of seen.counted) {
    const hits = items.find((i) => i.exception_class === group)?.hit_count ?? 0;
    expect(hits, group).to.be.at.least(counted);
    expect(hits, group).to.be.at.most(seen.asked.get(group) ?? 0);
  }
}

describe('faults: kill -9 under load', function () {
  this.timeout(120_000);
  for (const engine of engines) {
    it(`loses nothing that was acknowledged on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const service = await TestService.started({ ...NO_LIMITS, ...settings });
      try {
        await service.project('shop');
        const token = await service.token('bugtracker:report,bugtracker:manage');
        const seen: Acknowledged = { refs: new Map(), counted: new Map(), asked: new Map(), comments: new Map() };
        for (let round = 0; round < ROUNDS; round++) {
          let done = 0;
          const enough = new Promise<void>((resolve) => {
            const callers = Array.from({ length: CALLERS }, (_, c) =>
              report(service, token, `r${round}c${c}`, seen, () => ++done === REPORTS_BEFORE_THE_KILL && resolve()),
            );
            void Promise.allSettled(callers).then(() => resolve());
          });
          await enough;
          expect(done, 'acknowledged before the kill').to.be.at.least(REPORTS_BEFORE_THE_KILL);
          await service.end('SIGKILL');
          await service.start();
          await checkAll(service, token, seen);
        }
      } finally {
        await service.dispose();
      }
    });
  }
});
