/** The page /licenses/{id}: one license with its machines, history and actions (contract 80). */
import joi from 'joi';
import {
  getFormFields,
  pageActions,
  problemText,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { MACHINE_MOVES, listMachineMoves, type MachineMove } from '../machines/activations.js';
import { changeBody } from '../model/fields.js';
import { listMoves, type LicenseMove } from '../model/states.js';
import { toActivationView } from '../model/view.js';
import { toDay, parseEndDate, parseLicenseForm, getFormText } from './form.js';
import {
  ADMIN_AUTH,
  crumb,
  getIdParam,
  isAdmin,
  LICENSE_PAGE_SIZE,
  params,
  listProducts,
  MEMBER_AUTH,
  toShownLicense,
  title,
  redirectToLicense,
  getMachineTone,
  type LicensePageParts,
} from './parts.js';

const HISTORY = 50;

async function detailView(
  parts: LicensePageParts,
  request: HttpRequest,
  more: Record<string, unknown> = {},
): Promise<View> {
  const { licenses, activations, deps } = parts;
  const doc = await licenses.need(request.principal, getIdParam(request));
  const license = await licenses.show(request.principal, doc.id);
  const { cursor } = request.query as { cursor?: string };
  const query = { limit: LICENSE_PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
  const [names, page, counts, history] = await Promise.all([
    listProducts(parts, true),
    activations.page(request.principal, doc.id, query),
    activations.states(doc.id),
    deps.audit.of(doc.id, HISTORY),
  ]);
  const admin = isAdmin(request);
  const moves = listMoves(doc.status);
  return new View('license', {
    title: toShownLicense(license).name,
    license: toShownLicense(license),
    products: names,
    features: JSON.stringify(license.features, null, 2),
    end_day: toDay(license.expires_at),
    has_features: Object.keys(license.features).length > 0,
    admin,
    can: Object.fromEntries(moves.map((move) => [move, admin])),
    changeable: admin && doc.status !== 'revoked',
    used: counts.active ?? 0,
    waiting: counts.pending ?? 0,
    machines: page.items.map((one) => ({
      ...toActivationView(one),
      name: one.machine_name ?? one.machine_id,
      tone: getMachineTone(one.status),
      moves: admin ? listMachineMoves(one.status) : [],
    })),
    next_cursor: page.next,
    page_path: `/licenses/${doc.id}`,
    history: history.items,
    crumbs: [crumb, { label: toShownLicense(license).name }],
    ...more,
  });
}

const actionsOf = (parts: LicensePageParts): ReturnType<typeof pageActions> =>
  pageActions({ path: '/licenses/{id}', title, access: ADMIN_AUTH, input: { params } }, (request, problem) =>
    detailView(parts, request, {
      problem: problemText(problem),
      errors: problem.errors,
      typed: getFormFields(request),
    }),
  );

const DONE: Readonly<Record<Exclude<LicenseMove, 'extend'>, string>> = {
  approve: 'License approved.',
  reject: 'License rejected.',
  deactivate: 'License switched off: it is answered “inactive” and no longer opens the release store.',
  reactivate: 'License is active again.',
  revoke: 'License revoked.',
};

function actionPages(parts: LicensePageParts): PageSpec[] {
  const { licenses, online } = parts;
  const action = actionsOf(parts);
  return [
    ...(Object.keys(DONE) as Exclude<LicenseMove, 'extend'>[]).map((move) =>
      action(move, async (request, id) => {
        await licenses.move(request.principal, id, move, getFormText(request, 'reason') || undefined);
        return redirectToLicense(id, DONE[move]);
      }),
    ),
    action('extend', async (request, id) => {
      const { expires_at } = licenseEnd(request);
      await licenses.extend(request.principal, id, expires_at);
      return redirectToLicense(id, 'The end of the license was changed.');
    }),
    action('key', async (request, id) => {
      const key = await licenses.reveal(request.principal, id);
      return (await detailView(parts, request, { key })).header('cache-control', 'no-store');
    }),
    action('file', async (request, id) => {
      const doc = await licenses.need(request.principal, id);
      const file = await online.fileFor(
        doc,
        getFormText(request, 'machine_id') || null,
        Number(getFormText(request, 'valid_days')),
      );
      if ('status' in file) throw conflict(`No file: the answer is ${file.status}.`);
      await parts.deps.audit.record(request.principal, 'license.file_issued', id, {
        product: doc.product,
        machine_id: getFormText(request, 'machine_id') || null,
      });
      return text(file.text)
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${doc.product}.lic"`);
    }),
  ];
}

/**
 * Parses the license end from the form.
 * @throws ServiceError validation_failed
 */
function licenseEnd(request: HttpRequest): { expires_at: string | null } {
  return parseLicenseForm({ ...request, body: { expires_at: parseEndDate(request) ?? '' } }, changeBody) as {
    expires_at: string | null;
  };
}

const OF_MACHINES: Readonly<Record<MachineMove, string>> = {
  approve: 'Machine approved.',
  reject: 'Machine rejected.',
  block: 'Machine blocked.',
  release: 'Machine released: its place is free.',
};

function machinePages(parts: LicensePageParts): PageSpec[] {
  const input = { params: params.keys({ aid: joi.string().hex().length(32).required() }) };
  const action = actionsOf(parts);
  return MACHINE_MOVES.map((move) =>
    action(
      `machines/{aid}/${move}`,
      async (request, id) => {
        await parts.activations.move(request.principal, id, request.params['aid'] ?? '', move);
        const back = getFormText(request, 'back') === 'approvals' ? '/license-approvals' : `/licenses/${id}`;
        return new Redirect(back, { tone: 'success', message: OF_MACHINES[move] });
      },
      input,
    ),
  );
}

export function licensePages(parts: LicensePageParts): PageSpec[] {
  return [
    {
      path: '/licenses/{id}',
      title,
      access: MEMBER_AUTH,
      input: { params, query: joi.object({ cursor: joi.string().max(4096) }) },
      handle: (request) => detailView(parts, request),
    },
    ...actionPages(parts),
    ...machinePages(parts),
  ];
}
