import joi from 'joi';
import {
  created,
  invalid,
  Reply,
  withJsonSchema,
  text,
  type HttpRequest,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import type { NewLicense, LicenseFields, LicenseQuery } from '../model/fields.js';
import { changeBody, createBody, normalizeEmptyFields } from '../model/fields.js';
import type { LicenseService } from '../licenses/license-service.js';
import type { LicenseTransition } from '../model/states.js';
import { toActivationView, toLeaseView } from '../model/view.js';
import { MACHINE_TRANSITIONS, type ActivationService, type MachineTransition } from '../machines/activation-service.js';
import type { ActivationState } from '../model/documents.js';
import type { SeatAdministration } from '../seats/seat-administration.js';
import type { LicensingServices } from '../services.js';
import { buildLicenseCsv } from './csv.js';
import {
  activationAnswer,
  activationPageSchema,
  activationParams,
  activationsQuery,
  csvQuery,
  deactivationBody,
  extendBody,
  extendRefBody,
  leaseAnswer,
  leasePageSchema,
  leaseParams,
  leasesQuery,
  licenseAnswer,
  licensePageSchema,
  licensesQuery,
  createdLicenseAnswer,
  createdLicensesAnswer,
  licenseParams,
  reasonBody,
  refParams,
} from './schemas.js';
import { pickWarnings, type ListWarnings } from '../../../ports/store/skipped-documents.js';

const BASE_PATH = '/api/license/v1/licenses';
const READ_ACCESS = { scope: 'license:read' } as const;
const MANAGE_ACCESS = { scope: 'license:manage' } as const;

interface LicensesPage<T> extends ListWarnings {
  items: T[];
  next: string | null;
  count: () => Promise<number>;
}

async function toPageResponse<T>(page: LicensesPage<T>, query: object, view: (item: T) => object): Promise<object> {
  const { items, next, count } = page;
  const list = { items: items.map(view), next_cursor: next, has_more: next !== null, ...pickWarnings(page) };
  return 'include_total' in query && query.include_total === true ? { ...list, total: await count() } : list;
}

const getLicenseIdParam = ({ params }: HttpRequest): string => params['id'] ?? '';

export function adminRoutes({
  licenses,
  activations,
  seatAdministration,
}: Pick<LicensingServices, 'licenses' | 'activations' | 'seatAdministration'>): RouteSpec[] {
  return [
    ...listRoutes(licenses),
    ...changeRoutes(licenses),
    ...transitionRoutes(licenses),
    ...machineRoutes(activations),
    ...seatRoutes(seatAdministration),
  ];
}

function listRoutes(licenses: LicenseService): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: BASE_PATH,
      operationId: 'listLicenses',
      summary: 'List the licenses, newest first',
      description: 'A token limited to a project sees only that project.',
      access: READ_ACCESS,
      strictQuery: true,
      input: { query: licensesQuery },
      output: licensePageSchema,
      handle: async ({ principal, query }) =>
        toPageResponse(
          await licenses.listPage(principal, query as unknown as LicenseQuery),
          query,
          (license) => license,
        ),
    },
    {
      method: 'GET',
      path: `${BASE_PATH}.csv`,
      operationId: 'exportLicenses',
      summary: 'Export the licenses as CSV, with masked keys',
      access: READ_ACCESS,
      strictQuery: true,
      input: { query: csvQuery },
      output: withJsonSchema({ contentMediaType: 'text/csv' }, joi.string()),
      handle: async ({ principal, query }) =>
        text(await buildLicenseCsv(licenses, principal, query), 'text/csv; charset=utf-8')
          .header('cache-control', 'no-store')
          .header('content-disposition', 'attachment; filename="licenses.csv"'),
    },
    {
      method: 'GET',
      path: `${BASE_PATH}/{id}`,
      operationId: 'getLicense',
      summary: 'One license',
      access: READ_ACCESS,
      input: { params: licenseParams },
      output: licenseAnswer,
      handle: async (request) => ({ license: await licenses.getView(request.principal, getLicenseIdParam(request)) }),
    },
  ];
}

function changeRoutes(licenses: LicenseService): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: BASE_PATH,
      operationId: 'createLicense',
      errors: ['unknown_project'],
      summary: 'Create a license; its key is shown once',
      description:
        'With an existing `client_ref` of the product, 200 with that license and its key, so that the request can be repeated. With `count`, that many identical licenses are created and returned as `items`.',
      access: MANAGE_ACCESS,
      input: { body: createBody },
      output: { 200: createdLicenseAnswer, 201: createdLicensesAnswer },
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
      path: `${BASE_PATH}/{id}`,
      operationId: 'changeLicense',
      errors: ['final_state', 'conflict'],
      summary: 'Change the given fields of a license',
      access: MANAGE_ACCESS,
      input: { params: licenseParams, body: changeBody },
      output: licenseAnswer,
      handle: async (request) => {
        const fields = normalizeEmptyFields(request.body as LicenseFields);
        return { license: await licenses.update(request.principal, getLicenseIdParam(request), fields) };
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/{id}/extend`,
      operationId: 'extendLicense',
      errors: ['final_state'],
      summary: 'Change the end of a license',
      access: MANAGE_ACCESS,
      input: { params: licenseParams, body: extendBody },
      output: licenseAnswer,
      handle: async (request) => {
        const { expires_at } = request.body as { expires_at: string | null };
        return { license: await licenses.extend(request.principal, getLicenseIdParam(request), expires_at) };
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/by-ref/{product}/{client_ref}/extend`,
      operationId: 'extendLicenseByRef',
      errors: ['final_state'],
      summary: 'For shops: extend the license of an order',
      description:
        'The end is absolute, and one that is not later than the current end changes nothing: a payment provider may repeat and reorder its requests.',
      access: MANAGE_ACCESS,
      input: { params: refParams, body: extendRefBody },
      output: licenseAnswer,
      handle: async ({ principal, params: { product = '', client_ref = '' }, body }) => {
        const { expires_at } = body as { expires_at: string };
        return { license: await licenses.extendByRef(principal, product, client_ref, expires_at) };
      },
    },
  ];
}

const TRANSITION_SUMMARIES: readonly (readonly [Exclude<LicenseTransition, 'extend' | 'deactivate'>, string])[] = [
  ['approve', 'Approve a pending license: it becomes active'],
  ['reject', 'Reject a pending license: it is revoked'],
  ['reactivate', 'Reactivate an inactive license'],
  ['revoke', 'Revoke a license: this is final'],
];

const getReason = (body: unknown): string | undefined =>
  (body as { reason?: string | null } | null)?.reason || undefined;

function transitionRoutes(licenses: LicenseService): RouteSpec[] {
  const shared = {
    method: 'POST',
    errors: ['invalid_transition', 'final_state'],
    access: MANAGE_ACCESS,
    output: licenseAnswer,
  } as const;
  return [
    ...TRANSITION_SUMMARIES.map(([move, summary]): RouteSpec => ({
      method: 'POST',
      errors: shared.errors,
      access: MANAGE_ACCESS,
      output: licenseAnswer,
      path: `${BASE_PATH}/{id}/${move}`,
      operationId: `${move}License`,
      summary,
      input: { params: licenseParams, body: reasonBody, optionalBody: true },
      handle: async (request) => ({
        license: await licenses.applyTransition(
          request.principal,
          getLicenseIdParam(request),
          move,
          getReason(request.body),
        ),
      }),
    })),
    {
      ...shared,
      path: `${BASE_PATH}/{id}/deactivate`,
      operationId: 'deactivateLicense',
      summary: 'Deactivate a license; revoke it with `permanent`',
      input: { params: licenseParams, body: deactivationBody, optionalBody: true },
      handle: async (request) => {
        const permanent = (request.body as { permanent?: boolean } | null)?.permanent === true;
        const move = permanent ? 'revoke' : 'deactivate';
        return {
          license: await licenses.applyTransition(
            request.principal,
            getLicenseIdParam(request),
            move,
            getReason(request.body),
          ),
        };
      },
    },
  ];
}

const MACHINE_TRANSITION_SUMMARIES: Readonly<Record<MachineTransition, string>> = {
  approve: 'Approve a machine, even beyond the maximum',
  reject: 'Reject a pending machine',
  block: 'Block a machine',
  release: 'Release a machine and free its seat',
};

function machineRoutes(activations: ActivationService): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE_PATH}/{id}/activations`,
      operationId: 'listActivations',
      summary: 'List the machines of a license, first seen first',
      access: READ_ACCESS,
      strictQuery: true,
      input: { params: licenseParams, query: activationsQuery },
      output: activationPageSchema,
      handle: async (request) => {
        const query = request.query as unknown as { status?: ActivationState; limit: number; cursor?: string };
        return toPageResponse(
          await activations.listPage(request.principal, getLicenseIdParam(request), query),
          query,
          toActivationView,
        );
      },
    },
    ...MACHINE_TRANSITIONS.map((move): RouteSpec => ({
      method: 'POST',
      path: `${BASE_PATH}/{id}/activations/{aid}/${move}`,
      operationId: `${move}Activation`,
      errors: ['invalid_transition', 'conflict'],
      summary: MACHINE_TRANSITION_SUMMARIES[move],
      access: MANAGE_ACCESS,
      input: { params: activationParams, body: reasonBody, optionalBody: true },
      output: activationAnswer,
      handle: async (request) => {
        const activation = await activations.applyTransition(
          request.principal,
          getLicenseIdParam(request),
          request.params['aid'] ?? '',
          move,
        );
        return { activation: toActivationView(activation) };
      },
    })),
  ];
}

function seatRoutes(seats: SeatAdministration): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE_PATH}/{id}/leases`,
      operationId: 'listLeases',
      summary: 'List the machines that hold a seat of a floating license',
      access: READ_ACCESS,
      strictQuery: true,
      input: { params: licenseParams, query: leasesQuery },
      output: leasePageSchema,
      handle: async (request) => {
        const query = request.query as unknown as { limit: number; cursor?: string };
        const page = await seats.listPage(request.principal, getLicenseIdParam(request), query);
        return toPageResponse(page, query, toLeaseView);
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/{id}/leases/{lid}/release`,
      operationId: 'releaseSeat',
      summary: 'Release the floating seat of a machine',
      description: 'The machine may take a seat again at its next validation.',
      access: MANAGE_ACCESS,
      input: { params: leaseParams, body: reasonBody, optionalBody: true },
      output: leaseAnswer,
      handle: async ({ principal, params: { id = '', lid = '' }, body }) => ({
        lease: toLeaseView(await seats.release(principal, id, lid, getReason(body))),
      }),
    },
  ];
}
