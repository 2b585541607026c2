/**
 * The licenses' part of `npm run bench`: validations beside the bare yardstick, 10,000 machines at once on five places, and
 * the lines of the access files for 10,000 licenses whose hashes exist.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import { COLLECTIONS } from '../../plugins/licensing/collections.js';
import { ADMIN, fixtureOn } from '../plugins/licensing/fixture.js';
import { TestService } from '../support/service.js';
import type { Compared } from './beside.js';
import { bareServer } from './measure.js';

type Say = (text: string) => void;
const LICENSES = 200;
const MANY = 10_000;
const AT_ONCE = 100;
const UNLIMITED = { SVC_LIMITS__PUBLIC_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

/** @param compared makes the figure. @throws when a validation was refused, or a place too many was given */
export async function licenseFigures(say: Say, compared: Compared): Promise<void> {
  await validations(say, compared);
  await opening(say);
}

async function validations(say: Say, compared: Compared): Promise<void> {
  const bare = await bareServer('./bare-license.js');
  const service = await TestService.started(UNLIMITED);
  try {
    await service.project('bench');
    const token = await service.token('license:manage');
    const create = async (body: object): Promise<Record<string, unknown>> =>
      (await service.request('POST', '/api/license/v1/licenses', token, { product: 'bench', ...body })).body;
    const made = (await create({ count: LICENSES, max_activations: 5 }))['items'] as { key: string }[];
    const bodies = made.map(({ key }, i) =>
      JSON.stringify({
        license_key: key,
        product: 'bench',
        machine_id: `host-${i}`,
        app_version: '1.4.2',
        nonce: '5f1c9d2b473f5a1c',
      }),
    );
    const post = { method: 'POST' as const, bodies };
    say(`\nValidations: ${LICENSES} licenses with a machine each, signed, 16 connections`);
    await hashed(service.dataDir);
    const ours = { ...post, paths: ['/api/license/v1/validate'] };
    await compared('license validations', service, bare, { ...post, paths: ['/validate'] }, ours);
    const key = String((await create({ max_activations: 5 }))['key']);
    const began = performance.now();
    let active = 0;
    for (let at = 0; at < MANY; at += AT_ONCE) {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          const body = { license_key: key, product: 'bench', machine_id: `m-${at + i}` };
          return service.request('POST', '/api/license/v1/validate', null, body);
        }),
      );
      active += answers.filter((answer) => answer.body['status'] === 'active').length;
    }
    say(
      `  ${MANY} machines, ${AT_ONCE} at once, on five places: ${active} active, ${((performance.now() - began) / 1000).toFixed(1)} s`,
    );
    if (active !== 5) throw new Error(`${active} machines are active on five places`);
  } finally {
    await service.dispose();
    bare.stop();
  }
}

/** Resolves when the keys of all licenses are hashed: bcrypt takes a whole core until then. */
export async function hashed(dataDir: string): Promise<void> {
  const connection = new Connection({ path: join(dataDir, 'aos.db'), durability: 'normal' });
  try {
    const due = connection.prepare(
      `SELECT COUNT(*) FROM licensing_licenses WHERE json_extract(body, '$.hash_due') IS NOT NULL`,
    );
    while (Number(due.get([])?.[0]) > 0) await new Promise((resolve) => setTimeout(resolve, 500));
  } finally {
    connection.close();
  }
}

async function opening(say: Say): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-bench-'));
  const store = new SqliteStore({ path: join(folder, 'aos.db') });
  try {
    await store.connect();
    await store.ensure(COLLECTIONS.map(({ name, indexes }) => ({ name: `licensing_${name}`, indexes })));
    const f = fixtureOn(store);
    for (let i = 0; i < MANY; i += 1_000) await f.licenses.createMany(ADMIN, { product: 'shop' }, 1_000);
    await f.hashes.reconcile();
    await f.settled();
    const began = performance.now();
    let lines = 0;
    for await (const { name, hash } of f.directory.opening('shop')) lines += `${name}:${hash}\n` === '' ? 0 : 1;
    say(`\nAccess lines of ${lines} licenses, hashes at hand: ${(performance.now() - began).toFixed(0)} ms`);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}
