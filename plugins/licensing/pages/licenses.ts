/** /licenses: the list, a new license with its key, one license with its machines and its history (contract 80). */
import joi from 'joi';
import {
  orAgain,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type Problem,
} from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { canonicalKey, isKey, keySha256 } from '../keys/key.js';
import { changeBody, createBody, type LicenseQuery } from '../licenses/fields.js';
import { movesOf, STATES, type Move, type State } from '../licenses/states.js';
import { activationView } from '../licenses/view.js';
import { MACHINE_MOVES, machineMovesOf, type MachineMove } from '../machines/activations.js';
import { csvOf } from '../http/csv.js';
import { endOf, licenseOf, textOf, typed } from './form.js';
import {
  acting,
  crumb,
  idOf,
  isAdmin,
  params,
  products,
  reading,
  shown,
  title,
  toneOf,
  type PageParts,
} from './parts.js';

const PAGE = 50;
const HISTORY = 50;

export function licensePages(parts: PageParts): PageSpec[] {
  return [...listPages(parts), ...detailPages(parts), ...actionPages(parts), ...machinePages(parts)];
}

type ListQuery = Partial<Record<'q' | 'status' | 'product' | 'key_sha256' | 'cursor', string>>;

function asked(request: HttpRequest): LicenseQuery {
  const { q, status, product, key_sha256, cursor } = request.query as ListQuery;
  return {
    limit: PAGE,
    ...(q && { q }),
    ...(status && { status: status as State }),
    ...(product && { product }),
    ...(key_sha256 && { key_sha256 }),
    ...(cursor && { cursor }),
  };
}

const listQuery = joi.object({
  q: joi.string().max(200).allow(''),
  status: joi.string().valid(...STATES, ''),
  product: joi.string().max(64).allow(''),
  key_sha256: joi
    .string()
    .pattern(/^[0-9a-f]{64}$/)
    .allow(''),
  cursor: joi.string().max(4096),
});

/** Where a whole key was typed, also into the search: the address that comes then, and its links, hold its hash. */
function byHash(typed: string): Redirect | null {
  const key = canonicalKey(typed);
  return isKey(key) ? new Redirect(`/licenses?key_sha256=${keySha256(key)}`) : null;
}

async function listView(parts: PageParts, request: HttpRequest): Promise<View> {
  const query = asked(request);
  const page = await parts.licenses.page(request.principal, query);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  return new View('licenses', {
    items: page.items.map(shown),
    next_cursor: page.next,
    admin: isAdmin(request),
    states: STATES,
    products: await products(parts, true),
    filtered: Object.keys(filters).length > 0,
    csv: `/licenses.csv?${new URLSearchParams(filters as Record<string, string>).toString()}`,
  });
}

async function editor(parts: PageParts, request: HttpRequest, problem?: Problem): Promise<View> {
  const id = request.params['id'];
  const known = id === undefined ? null : await parts.licenses.show(request.principal, id);
  const kept = known && { ...known, features: JSON.stringify(known.features), expires_at: known.expires_at ?? '' };
  return new View('license-form', {
    known: known === null ? null : shown(known),
    form: problem === undefined ? (kept ?? {}) : typed(request),
    approval: problem === undefined ? known?.require_approval : typed(request)['require_approval'] === 'true',
    products: await products(parts, false),
    action: known === null ? '/licenses' : `/licenses/${known.id}/edit`,
    crumbs: [crumb, { label: known === null ? 'New license' : 'Edit' }],
    ...problem,
  });
}

function listPages(parts: PageParts): PageSpec[] {
  return [
    {
      path: '/licenses',
      title,
      nav: {
        section: 'delivery',
        label: title,
        icon: 'license',
        order: 20,
        also: ['keys', 'machines', 'activations', 'customers', 'seats', 'subscriptions'],
      },
      access: reading,
      input: { query: listQuery },
      handle: (request) => byHash(asked(request).q ?? '') ?? listView(parts, request),
    },
    {
      path: '/licenses.csv',
      title,
      access: reading,
      input: { query: listQuery },
      handle: async (request) =>
        text(await csvOf(parts.licenses, request.principal, asked(request)), 'text/csv; charset=utf-8')
          .header('cache-control', 'no-store')
          .header('content-disposition', 'attachment; filename="licenses.csv"'),
    },
    {
      // A whole key never stands in an address: its hash does.
      method: 'POST',
      path: '/licenses/find',
      title,
      access: reading,
      handle: (request) => {
        const none = { tone: 'warning', message: 'This is no license key.' } as const;
        return byHash(textOf(request, 'license_key')) ?? new Redirect('/licenses', none);
      },
    },
    { path: '/licenses/new', title: 'New license', access: acting, handle: (request) => editor(parts, request) },
    {
      method: 'POST',
      path: '/licenses',
      title: 'New license',
      access: acting,
      creates: true,
      handle: (request) =>
        orAgain(
          async () => {
            const { count, ...input } = licenseOf(request, createBody);
            const made =
              count === undefined
                ? [await parts.licenses.create(request.principal, input)]
                : await parts.licenses.createMany(request.principal, input, count);
            const [first] = made;
            if (first === undefined) throw conflict('No license was made.');
            return new View('license-created', {
              title: made.length === 1 ? 'License created' : `${made.length} licenses created`,
              license: shown(first.license),
              products: await products(parts, true),
              keys: made.map(({ key }) => key).join('\n'),
              many: made.length > 1,
              known: !first.created,
              crumbs: [crumb, { label: 'Created' }],
            }).shownOnce({ label: 'Licenses', href: '/licenses' });
          },
          (problem) => editor(parts, request, problem),
        ),
    },
  ];
}

async function detailView(parts: PageParts, request: HttpRequest, more: Record<string, unknown> = {}): Promise<View> {
  const { licenses, activations, deps } = parts;
  const doc = await licenses.need(request.principal, idOf(request));
  const license = await licenses.show(request.principal, doc.id);
  const { cursor } = request.query as { cursor?: string };
  const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
  const [names, page, counts, history] = await Promise.all([
    products(parts, true),
    activations.page(request.principal, doc.id, query),
    activations.states(doc.id),
    deps.audit.of(doc.id, HISTORY),
  ]);
  const admin = isAdmin(request);
  const moves = movesOf(doc.status);
  return new View('license', {
    title: shown(license).name,
    license: shown(license),
    products: names,
    features: JSON.stringify(license.features, null, 2),
    has_features: Object.keys(license.features).length > 0,
    admin,
    can: Object.fromEntries(moves.map((move) => [move, admin])),
    changeable: admin && doc.status !== 'revoked',
    used: counts.active ?? 0,
    waiting: counts.pending ?? 0,
    machines: page.items.map((one) => ({
      ...activationView(one),
      name: one.machine_name ?? one.machine_id,
      tone: toneOf(one.status),
      moves: admin ? machineMovesOf(one.status) : [],
    })),
    next_cursor: page.next,
    page_path: `/licenses/${doc.id}`,
    history: history.items,
    crumbs: [crumb, { label: shown(license).name }],
    ...more,
  });
}

function detailPages(parts: PageParts): PageSpec[] {
  return [
    {
      path: '/licenses/{id}',
      title,
      access: reading,
      input: { params, query: joi.object({ cursor: joi.string().max(4096) }) },
      handle: (request) => detailView(parts, request),
    },
    {
      path: '/licenses/{id}/edit',
      title: 'Edit license',
      access: acting,
      input: { params },
      handle: (request) => editor(parts, request),
    },
  ];
}

/** A button of a license's page; what is refused is said on the same page. */
function action(
  parts: PageParts,
  name: string,
  run: (request: HttpRequest, id: string) => Promise<PageResult>,
): PageSpec {
  return {
    method: 'POST',
    path: `/licenses/{id}/${name}`,
    title,
    access: acting,
    input: { params },
    handle: (request) =>
      orAgain(
        () => run(request, idOf(request)),
        ({ message, errors }) => detailView(parts, request, { problem: [message, ...Object.values(errors)].join(' ') }),
      ),
  };
}

const DONE: Readonly<Record<Exclude<Move, 'extend'>, string>> = {
  approve: 'License approved.',
  reject: 'License rejected.',
  deactivate: 'License switched off: it is answered “inactive” and no longer opens the release store.',
  reactivate: 'License is active again.',
  revoke: 'License revoked.',
};

const to = (id: string, message: string): Redirect => new Redirect(`/licenses/${id}`, { tone: 'success', message });

function actionPages(parts: PageParts): PageSpec[] {
  const { licenses, online } = parts;
  return [
    ...(Object.keys(DONE) as Exclude<Move, 'extend'>[]).map((move) =>
      action(parts, move, async (request, id) => {
        await licenses.move(request.principal, id, move, textOf(request, 'reason') || undefined);
        return to(id, DONE[move]);
      }),
    ),
    action(parts, 'extend', async (request, id) => {
      const { expires_at } = licenseEnd(request);
      await licenses.extend(request.principal, id, expires_at);
      return to(id, 'The end of the license was changed.');
    }),
    {
      method: 'POST',
      path: '/licenses/{id}/edit',
      title: 'Edit license',
      access: acting,
      input: { params },
      handle: (request) =>
        orAgain(
          async () => {
            const { product: _product, ...fields } = licenseOf(request, changeBody);
            await licenses.change(request.principal, idOf(request), fields);
            return to(idOf(request), 'License saved.');
          },
          (problem) => editor(parts, request, problem),
        ),
    },
    action(parts, 'key', async (request, id) => {
      const key = await licenses.reveal(request.principal, id);
      return (await detailView(parts, request, { key })).header('cache-control', 'no-store');
    }),
    action(parts, 'file', async (request, id) => {
      const doc = await licenses.need(request.principal, id);
      const file = await online.fileFor(
        doc,
        textOf(request, 'machine_id') || null,
        Number(textOf(request, 'valid_days')),
      );
      if ('status' in file) throw conflict(`No file: the answer is ${file.status}.`);
      await parts.deps.audit.record(request.principal, 'license.file_issued', id, {
        product: doc.product,
        machine_id: textOf(request, 'machine_id') || null,
      });
      return text(file.text)
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${doc.product}.lic"`);
    }),
  ];
}

/** The end of a license as its form gives it. @throws ServiceError validation_failed */
function licenseEnd(request: HttpRequest): { expires_at: string | null } {
  return licenseOf({ ...request, body: { expires_at: endOf(request) ?? '' } }, changeBody) as {
    expires_at: string | null;
  };
}

const OF_MACHINES: Readonly<Record<MachineMove, string>> = {
  approve: 'Machine approved.',
  reject: 'Machine rejected.',
  block: 'Machine blocked.',
  release: 'Machine released: its place is free.',
};

function machinePages(parts: PageParts): PageSpec[] {
  return MACHINE_MOVES.map((move): PageSpec => {
    const page = action(parts, `machines/{aid}/${move}`, async (request, id) => {
      await parts.activations.move(request.principal, id, request.params['aid'] ?? '', move);
      const back = textOf(request, 'back') === 'approvals' ? '/license-approvals' : `/licenses/${id}`;
      return new Redirect(back, { tone: 'success', message: OF_MACHINES[move] });
    });
    return Object.assign(page, { input: { params: params.keys({ aid: joi.string().hex().length(32).required() }) } });
  });
}
