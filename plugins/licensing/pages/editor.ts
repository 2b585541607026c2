import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { changeBody, createBody } from '../model/fields.js';
import { formatEntitlementLines, toDay, parseLicenseForm, getFormText } from './form.js';
import { composeKeyMessage, type LicenseKeySender } from './key-delivery.js';
import { buildCustomerPageUrl, buildMailtoUrl } from './key-message.js';
import {
  LICENSE_ADMIN_AUTH,
  LICENSES_CRUMB,
  getIdParam,
  licenseIdParams,
  listProducts,
  toShownLicense,
  redirectToLicense,
  type LicensePageServices,
} from './page-context.js';

async function renderEditor(parts: LicensePageServices, request: HttpRequest, problem?: FormRejection): Promise<View> {
  const id = request.params['id'];
  const known = id === undefined ? null : await parts.licenses.getView(request.principal, id);
  const storedValues = known && {
    ...known,
    features: JSON.stringify(known.features),
    expires_at: toDay(known.expires_at),
    entitlements: formatEntitlementLines(known.entitlements),
  };
  return new View('license-form', {
    known: known === null ? null : toShownLicense(known),
    form: problem === undefined ? (storedValues ?? { product: request.query['product'] }) : getFormFields(request),
    approval: problem === undefined ? known?.require_approval : getFormFields(request)['require_approval'] === 'true',
    floating: problem === undefined ? known?.floating : getFormFields(request)['floating'] === 'true',
    products: await listProducts(parts, false),
    action: known === null ? '/licenses' : `/licenses/${known.id}/edit`,
    crumbs: [LICENSES_CRUMB, { label: known === null ? 'New license' : 'Edit' }],
    ...problem,
  });
}

async function createLicenses(
  parts: LicensePageServices,
  sender: LicenseKeySender,
  request: HttpRequest,
): Promise<View> {
  const { count, ...input } = parseLicenseForm(request, createBody);
  const licenses =
    count === undefined
      ? [await parts.licenses.create(request.principal, input)]
      : await parts.licenses.createMany(request.principal, input, count);
  const [first] = licenses;
  if (first === undefined) throw conflict('No license was created.');
  const message = licenses.length === 1 ? await composeKeyMessage(parts, first.license, first.key) : null;
  const { email } = first.license;
  return new View('license-created', {
    title: licenses.length === 1 ? 'License created' : `${licenses.length} licenses created`,
    license: toShownLicense(first.license),
    products: await listProducts(parts, true),
    keys: licenses.map(({ key }) => key).join('\n'),
    many: licenses.length > 1,
    known: !first.created,
    message: message?.text,
    customer_url: message?.url ?? buildCustomerPageUrl(parts.deps.baseUrl(), first.license.product),
    can_send: sender.isConfigured && email !== null,
    mailto: message === null || email === null || sender.isConfigured ? null : buildMailtoUrl(email, message),
    crumbs: [LICENSES_CRUMB, { label: 'Created' }],
  }).asOneTimeView({ label: 'Licenses', href: '/licenses' });
}

export function editPages(parts: LicensePageServices, sender: LicenseKeySender): PageSpec[] {
  const again = (request: HttpRequest, problem?: FormRejection): Promise<View> => renderEditor(parts, request, problem);
  const edit = {
    path: '/licenses/{id}/edit',
    title: 'Edit license',
    access: LICENSE_ADMIN_AUTH,
    input: { params: licenseIdParams },
  };
  return [
    {
      path: '/licenses/new',
      title: 'New license',
      access: LICENSE_ADMIN_AUTH,
      projectQuery: 'product',
      input: { query: joi.object({ product: joi.string().max(64).empty('') }) },
      handle: (request) => again(request),
    },
    createFormPage(
      { path: '/licenses', title: 'New license', access: LICENSE_ADMIN_AUTH, creates: true },
      (request) => createLicenses(parts, sender, request),
      again,
    ),
    { ...edit, handle: (request) => again(request) },
    createFormPage(
      edit,
      async (request) => {
        const { product: _product, ...fields } = parseLicenseForm(request, changeBody);
        const { expires_at: end } = await parts.licenses.getView(request.principal, getIdParam(request));
        // An unchanged day retains the exact time set through the API.
        if (end !== null && getFormText(request, 'expires_at') === toDay(end)) delete fields.expires_at;
        await parts.licenses.update(request.principal, getIdParam(request), fields);
        return redirectToLicense(getIdParam(request), 'License saved.');
      },
      again,
    ),
  ];
}
