/** The form of a new or existing license; keys of new licenses are shown once (contract 80). */
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
import { toDay, parseLicenseForm, getFormText } from './form.js';
import {
  ADMIN_AUTH,
  crumb,
  getIdParam,
  params,
  listProducts,
  toShownLicense,
  redirectToLicense,
  type LicensePageParts,
} from './parts.js';

async function editor(parts: LicensePageParts, request: HttpRequest, problem?: Problem): Promise<View> {
  const id = request.params['id'];
  const known = id === undefined ? null : await parts.licenses.show(request.principal, id);
  const kept = known && { ...known, features: JSON.stringify(known.features), expires_at: toDay(known.expires_at) };
  return new View('license-form', {
    known: known === null ? null : toShownLicense(known),
    form: problem === undefined ? (kept ?? {}) : getFormFields(request),
    approval: problem === undefined ? known?.require_approval : getFormFields(request)['require_approval'] === 'true',
    products: await listProducts(parts, false),
    action: known === null ? '/licenses' : `/licenses/${known.id}/edit`,
    crumbs: [crumb, { label: known === null ? 'New license' : 'Edit' }],
    ...problem,
  });
}

async function made(parts: LicensePageParts, request: HttpRequest): Promise<View> {
  const { count, ...input } = parseLicenseForm(request, createBody);
  const licenses =
    count === undefined
      ? [await parts.licenses.create(request.principal, input)]
      : await parts.licenses.createMany(request.principal, input, count);
  const [first] = licenses;
  if (first === undefined) throw conflict('No license was made.');
  return new View('license-created', {
    title: licenses.length === 1 ? 'License created' : `${licenses.length} licenses created`,
    license: toShownLicense(first.license),
    products: await listProducts(parts, true),
    keys: licenses.map(({ key }) => key).join('\n'),
    many: licenses.length > 1,
    known: !first.created,
    crumbs: [crumb, { label: 'Created' }],
  }).shownOnce({ label: 'Licenses', href: '/licenses' });
}

export function editPages(parts: LicensePageParts): PageSpec[] {
  const again = (request: HttpRequest, problem?: Problem): Promise<View> => editor(parts, request, problem);
  const edit = { path: '/licenses/{id}/edit', title: 'Edit license', access: ADMIN_AUTH, input: { params } };
  return [
    { path: '/licenses/new', title: 'New license', access: ADMIN_AUTH, handle: (request) => again(request) },
    formPage(
      { path: '/licenses', title: 'New license', access: ADMIN_AUTH, creates: true },
      (request) => made(parts, request),
      again,
    ),
    { ...edit, handle: (request) => again(request) },
    formPage(
      edit,
      async (request) => {
        const { product: _product, ...fields } = parseLicenseForm(request, changeBody);
        const { expires_at: end } = await parts.licenses.show(request.principal, getIdParam(request));
        // The form shows a day: an unchanged day retains the exact time set through the API.
        if (end !== null && getFormText(request, 'expires_at') === toDay(end)) delete fields.expires_at;
        await parts.licenses.change(request.principal, getIdParam(request), fields);
        return redirectToLicense(getIdParam(request), 'License saved.');
      },
      again,
    ),
  ];
}
