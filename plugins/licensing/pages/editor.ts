/** The form of a new or known license; the keys of new ones are shown once (contract 80). */
import {
  getFormFields,
  formPage,
  View,
  type HttpRequest,
  type PageSpec,
  type Problem,
} from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { changeBody, createBody } from '../model/fields.js';
import { dayOf, licenseOf, textOf } from './form.js';
import { acting, crumb, idOf, params, products, shown, to, type LicensePageParts } from './parts.js';

async function editor(parts: LicensePageParts, request: HttpRequest, problem?: Problem): Promise<View> {
  const id = request.params['id'];
  const known = id === undefined ? null : await parts.licenses.show(request.principal, id);
  const kept = known && { ...known, features: JSON.stringify(known.features), expires_at: dayOf(known.expires_at) };
  return new View('license-form', {
    known: known === null ? null : shown(known),
    form: problem === undefined ? (kept ?? {}) : getFormFields(request),
    approval: problem === undefined ? known?.require_approval : getFormFields(request)['require_approval'] === 'true',
    products: await products(parts, false),
    action: known === null ? '/licenses' : `/licenses/${known.id}/edit`,
    crumbs: [crumb, { label: known === null ? 'New license' : 'Edit' }],
    ...problem,
  });
}

async function made(parts: LicensePageParts, request: HttpRequest): Promise<View> {
  const { count, ...input } = licenseOf(request, createBody);
  const licenses =
    count === undefined
      ? [await parts.licenses.create(request.principal, input)]
      : await parts.licenses.createMany(request.principal, input, count);
  const [first] = licenses;
  if (first === undefined) throw conflict('No license was made.');
  return new View('license-created', {
    title: licenses.length === 1 ? 'License created' : `${licenses.length} licenses created`,
    license: shown(first.license),
    products: await products(parts, true),
    keys: licenses.map(({ key }) => key).join('\n'),
    many: licenses.length > 1,
    known: !first.created,
    crumbs: [crumb, { label: 'Created' }],
  }).shownOnce({ label: 'Licenses', href: '/licenses' });
}

export function editPages(parts: LicensePageParts): PageSpec[] {
  const again = (request: HttpRequest, problem?: Problem): Promise<View> => editor(parts, request, problem);
  const edit = { path: '/licenses/{id}/edit', title: 'Edit license', access: acting, input: { params } };
  return [
    { path: '/licenses/new', title: 'New license', access: acting, handle: (request) => again(request) },
    formPage(
      { path: '/licenses', title: 'New license', access: acting, creates: true },
      (request) => made(parts, request),
      again,
    ),
    { ...edit, handle: (request) => again(request) },
    formPage(
      edit,
      async (request) => {
        const { product: _product, ...fields } = licenseOf(request, changeBody);
        const { expires_at: end } = await parts.licenses.show(request.principal, idOf(request));
        // The form shows a day: the same day keeps the minute that the interface gave it.
        if (end !== null && textOf(request, 'expires_at') === dayOf(end)) delete fields.expires_at;
        await parts.licenses.change(request.principal, idOf(request), fields);
        return to(idOf(request), 'License saved.');
      },
      again,
    ),
  ];
}
