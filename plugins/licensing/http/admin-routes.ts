/** Administration routes for licenses (contract 50, administration API). */
import joi from 'joi';
import { created, invalid, Reply, stated, text, type HttpRequest, type RouteSpec } from '../../../kernel/contract.js';
import type { NewLicense, LicenseFields, LicenseQuery } from '../model/fields.js';
import { changeBody, createBody, normalizeEmptyFields } from '../model/fields.js';
import type { Licenses } from '../licenses/licenses.js';
import type { LicenseMove } from '../model/states.js';
import { toActivationView } from '../model/view.js';
import { MACHINE_MOVES, type Activations, type MachineMove } from '../machines/activations.js';
import type { ActivationState } from '../model/documents.js';
import { buildLicenseCsv } from './csv.js';
import {
  activationAnswer,
  activationPage,
  activationParams,
  activationsQuery,
  csvQuery,
  deactivationBody,
  extendBody,
  extendRefBody,
  licenseAnswer,
  licensePage,
  licensesQuery,
  createdAnswer,
  createdManyAnswer,
  licenseParams,
  reasonBody,
  refParams,
} from './schemas.js';
import { warned, type Warned } from '../../../ports/store/left-out.js';

const BASE = '/api/license/v1/licenses';
const READ = { scope: 'license:read' } as const;
const MANAGE = { scope: 'license:manage' } as const;

interface Page<T> extends Warned {
  items: T[];
  next: string | null;
  count: () => Promise<number>;
}

async function paged<T>(page: Page<T>, query: object, view: (item: T) => object): Promise<object> {
  const { items, next, count } = page;
  const list = { items: items.map(view), next_cursor: next, has_more: next !== null, ...warned(page) };
  return 'include_total' in query && query.include_total === true ? { ...list, total: await count() } : list;
}

const idOf = ({ params }: HttpRequest): string => params['id'] ?? '';

export function adminRoutes(licenses: Licenses, activations: Activations): RouteSpec[] {
  return [...lists(licenses), ...changes(licenses), ...moves(licenses), ...machines(activations)];
}

function lists(licenses: Licenses): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listLicenses',
      summary: 'List the licenses, newest first',
      description: 'A token that is bound to a project sees that one alone.',
      access: READ,
      strictQuery: true,
      input: { query: licensesQuery },
      output: licensePage,
      handle: async ({ principal, query }) =>
        paged(await licenses.page(principal, query as unknown as LicenseQuery), query, (license) => license),
    },
    {
      method: 'GET',
      path: `${BASE}.csv`,
      operationId: 'exportLicenses',
      summary: 'The licenses as CSV, keys masked',
      access: READ,
      strictQuery: true,
      input: { query: csvQuery },
      output: stated({ contentMediaType: 'text/csv' }, joi.string()),
      handle: async ({ principal, query }) =>
        text(await buildLicenseCsv(licenses, principal, query), 'text/csv; charset=utf-8')
          .header('cache-control', 'no-store')
          .header('content-disposition', 'attachment; filename="licenses.csv"'),
    },
    {
      method: 'GET',
      path: `${BASE}/{id}`,
      operationId: 'getLicense',
      summary: 'One license',
      access: READ,
      input: { params: licenseParams },
      output: licenseAnswer,
      handle: async (request) => ({ license: await licenses.show(request.principal, idOf(request)) }),
    },
  ];
}

function changes(licenses: Licenses): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: BASE,
      operationId: 'createLicense',
      errors: ['unknown_project'],
      summary: 'Make a license; its key is shown once',
      description:
        'With a `client_ref` that the product has, 200 with that license and its key: a repeated call does no harm. With `count` so many alike are made, and answered as `items`.',
      access: MANAGE,
      input: { body: createBody },
      output: { 200: createdAnswer, 201: createdManyAnswer },
      handle: async ({ principal, body }) => {
        const { count, project, ...input } = normalizeEmptyFields(body as NewLicense & { project?: string });
        if (project !== undefined && project !== input.product) throw invalid({ project: 'is the product' });
        if (count !== undefined) {
          const items = (await licenses.createMany(principal, input, count)).map(({ license, key }) => ({
            license,
            key,
          }));
          return created({ ...(items.length === 1 && items[0]), items }).header('cache-control', 'no-store');
        }
        const { license, key, created: isNew } = await licenses.create(principal, input);
        return new Reply(isNew ? 201 : 200, { license, key }).header('cache-control', 'no-store');
      },
    },
    {
      method: 'PATCH',
      path: `${BASE}/{id}`,
      operationId: 'changeLicense',
      errors: ['final_state', 'conflict'],
      summary: 'Change a license; only what is given changes',
      access: MANAGE,
      input: { params: licenseParams, body: changeBody },
      output: licenseAnswer,
      handle: async (request) => {
        const fields = normalizeEmptyFields(request.body as LicenseFields);
        return { license: await licenses.change(request.principal, idOf(request), fields) };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/{id}/extend`,
      operationId: 'extendLicense',
      errors: ['final_state'],
      summary: 'Give a license another end',
      access: MANAGE,
      input: { params: licenseParams, body: extendBody },
      output: licenseAnswer,
      handle: async (request) => {
        const { expires_at } = request.body as { expires_at: string | null };
        return { license: await licenses.extend(request.principal, idOf(request), expires_at) };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/by-ref/{product}/{client_ref}/extend`,
      operationId: 'extendLicenseByRef',
      errors: ['final_state'],
      summary: 'For shops: extend the license of an order',
      description:
        'The end is absolute, and one that is not later than the license’s own changes nothing: a payment provider may repeat its calls and change their order.',
      access: MANAGE,
      input: { params: refParams, body: extendRefBody },
      output: licenseAnswer,
      handle: async ({ principal, params: { product = '', client_ref = '' }, body }) => {
        const { expires_at } = body as { expires_at: string };
        return { license: await licenses.extendByRef(principal, product, client_ref, expires_at) };
      },
    },
  ];
}

const MOVES: readonly (readonly [Exclude<LicenseMove, 'extend' | 'deactivate'>, string])[] = [
  ['approve', 'Approve a pending license: it becomes active'],
  ['reject', 'Reject a pending license: it is revoked'],
  ['reactivate', 'Make an inactive license active again'],
  ['revoke', 'Revoke a license: this is final'],
];

function moves(licenses: Licenses): RouteSpec[] {
  const shared = {
    method: 'POST',
    errors: ['invalid_transition', 'final_state'],
    access: MANAGE,
    output: licenseAnswer,
  } as const;
  const reasonOf = (body: unknown): string | undefined =>
    (body as { reason?: string | null } | null)?.reason || undefined;
  return [
    ...MOVES.map(([move, summary]): RouteSpec => ({
      method: 'POST',
      errors: shared.errors,
      access: MANAGE,
      output: licenseAnswer,
      path: `${BASE}/{id}/${move}`,
      operationId: `${move}License`,
      summary,
      input: { params: licenseParams, body: reasonBody, optionalBody: true },
      handle: async (request) => ({
        license: await licenses.move(request.principal, idOf(request), move, reasonOf(request.body)),
      }),
    })),
    {
      ...shared,
      path: `${BASE}/{id}/deactivate`,
      operationId: 'deactivateLicense',
      summary: 'Switch a license off; with `permanent` revoke it',
      input: { params: licenseParams, body: deactivationBody, optionalBody: true },
      handle: async (request) => {
        const permanent = (request.body as { permanent?: boolean } | null)?.permanent === true;
        const move = permanent ? 'revoke' : 'deactivate';
        return { license: await licenses.move(request.principal, idOf(request), move, reasonOf(request.body)) };
      },
    },
  ];
}

const OF_MACHINES: Readonly<Record<MachineMove, string>> = {
  approve: 'Approve a machine, beyond the maximum if need be',
  reject: 'Reject a machine that waits',
  block: 'Block a machine',
  release: 'Release a machine: its place is free',
};

function machines(activations: Activations): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE}/{id}/activations`,
      operationId: 'listActivations',
      summary: 'The machines of a license, the first seen first',
      access: READ,
      strictQuery: true,
      input: { params: licenseParams, query: activationsQuery },
      output: activationPage,
      handle: async (request) => {
        const query = request.query as unknown as { status?: ActivationState; limit: number; cursor?: string };
        return paged(await activations.page(request.principal, idOf(request), query), query, toActivationView);
      },
    },
    ...MACHINE_MOVES.map((move): RouteSpec => ({
      method: 'POST',
      path: `${BASE}/{id}/activations/{aid}/${move}`,
      operationId: `${move}Activation`,
      errors: ['invalid_transition', 'conflict'],
      summary: OF_MACHINES[move],
      access: MANAGE,
      input: { params: activationParams, body: reasonBody, optionalBody: true },
      output: activationAnswer,
      handle: async (request) => {
        const activation = await activations.move(request.principal, idOf(request), request.params['aid'] ?? '', move);
        return { activation: toActivationView(activation) };
      },
    })),
  ];
}
