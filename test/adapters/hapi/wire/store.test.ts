/** What a caller is told when the store has no room, or is away (contract 00, error codes). */
import { expect } from 'chai';
import type { RouteSpec } from '../../../../kernel/contract/index.js';
import { DiskFull, DiskUnwritable } from '../../../../ports/release-store.js';
import { StoreFull, StoreUnavailable } from '../../../../ports/store/index.js';
import { TestServer } from '../support.js';

const failing = (path: string, error: () => Error): RouteSpec => ({
  method: 'GET',
  path,
  summary: 'Fails',
  access: 'public',
  handle: () => {
    throw error();
  },
});

describe('hapi: store failures', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.create({
      routes: [
        failing('/api/full', () => new StoreFull()),
        failing('/api/away', () => new StoreUnavailable()),
        failing('/api/disk-full', () => new DiskFull('x')),
        failing('/api/read-only', () => new DiskUnwritable('/secret/path')),
      ],
    });
  });

  for (const [path, status, code] of [
    ['/api/full', 507, 'insufficient_storage'],
    ['/api/away', 503, 'not_ready'],
    ['/api/disk-full', 507, 'insufficient_storage'],
    ['/api/read-only', 503, 'not_ready'],
  ] as const) {
    it(`returns ${status} with Retry-After for ${path}`, async () => {
      const answer = await server.ask('GET', path);
      expect(answer.status).to.equal(status);
      expect(answer.body['error']).to.include({ code });
      expect(JSON.stringify(answer.body)).to.not.include('/secret/path');
      expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0);
    });
  }
});
