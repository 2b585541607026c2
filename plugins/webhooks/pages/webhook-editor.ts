import {
  getFormFields,
  createFormPage,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { ALL_EVENTS } from '../model/event-names.js';
import { changeBody, createBody } from '../model/webhook.js';
import { readWebhookForm, getChosenEvents } from './webhook-form.js';
import { writeAccess, crumb, params, title, redirectToWebhook, type WebhookPageParts } from './page-helpers.js';
import { renderWithSecret } from './webhook-detail-pages.js';

async function renderEditor(
  { registry, choices }: WebhookPageParts,
  request: HttpRequest,
  problem?: FormRejection,
): Promise<View> {
  const id = request.params['id'];
  const known =
    id === undefined
      ? null
      : await registry.toView(request.principal, await registry.getWebhook(request.principal, id));
  const form = problem !== undefined ? getFormFields(request) : (known ?? { events: ALL_EVENTS, enabled: true });
  const chosen = problem !== undefined ? getChosenEvents(request) : (known?.events ?? ALL_EVENTS).split(',');
  const names = [
    {
      name: ALL_EVENTS,
      description: 'Includes events added later',
    },
  ];
  return new View('webhook-form', {
    known,
    form,
    enabled: problem === undefined ? (known?.enabled ?? true) : getFormFields(request)['enabled'] === 'true',
    names: [...names, ...choices.listEvents()].map((one) => Object.assign(one, { checked: chosen.includes(one.name) })),
    has_key: choices.hasSigningKey,
    projects: await choices.listProjects(),
    action: known === null ? '/webhooks' : `/webhooks/${known.id}/edit`,
    crumbs: [crumb, known === null ? { label: 'New webhook' } : { label: known.name, href: `/webhooks/${known.id}` }],
    ...problem,
  });
}

export function buildEditPages(parts: WebhookPageParts): PageSpec[] {
  const { registry } = parts;
  const again = (request: HttpRequest, problem?: FormRejection): Promise<View> => renderEditor(parts, request, problem);
  const edit = { path: '/webhooks/{id}/edit', title: 'Edit webhook', access: writeAccess, input: { params } };
  return [
    {
      path: '/webhooks/new',
      title: 'New webhook',
      access: writeAccess,
      handle: (request) => renderEditor(parts, request),
    },
    createFormPage(
      { path: '/webhooks', title, access: writeAccess, creates: true },
      async (request) => {
        const { webhook, secret } = await registry.create(request.principal, readWebhookForm(request, createBody));
        if (secret === null) return redirectToWebhook(webhook, 'Webhook created.');
        return renderWithSecret(parts, request, webhook.id, { heading: 'Webhook created', secret });
      },
      again,
    ),
    { ...edit, handle: (request) => renderEditor(parts, request) },
    createFormPage(
      edit,
      async (request) => {
        const input = readWebhookForm(request, changeBody);
        return redirectToWebhook(
          await registry.change(request.principal, request.params['id'] ?? '', input),
          'Webhook saved.',
        );
      },
      again,
    ),
  ];
}
