export interface KindField {
  label: string;
  help: string;
  presence: 'required' | 'optional' | { default: string };
}

export interface KindSpec {
  label: string;
  description: string;
  target?: KindField & { format: 'emails' | 'url' | 'text'; pattern?: RegExp; mistake?: string };
  secret?: KindField;
  server?: KindField;
  custom?: boolean;
}

const buildWebhookTarget = (help: string): KindSpec['target'] => ({
  label: 'Webhook URL',
  help,
  presence: 'required',
  format: 'url',
});
const buildServerField = (address: string, help: string): KindField => ({
  label: 'Server',
  help,
  presence: { default: address },
});

const KIND_SPECS = {
  email: {
    label: 'E-mail',
    description: 'One or more addresses',
    target: {
      label: 'Addresses',
      help: 'Separated by commas.',
      presence: 'required',
      format: 'emails',
    },
  },
  slack: {
    label: 'Slack, Mattermost or Discord',
    description: 'Incoming webhook',
    target: buildWebhookTarget('URL of an incoming webhook. Discord: add /slack to the end.'),
  },
  teams: {
    label: 'Microsoft Teams',
    description: 'Teams workflow',
    target: buildWebhookTarget('URL of a workflow “Post to a channel when a webhook request is received”.'),
  },
  google_chat: {
    label: 'Google Chat',
    description: 'Incoming webhook of a space',
    target: buildWebhookTarget('URL of the space’s incoming webhook, with its key and token.'),
  },
  telegram: {
    label: 'Telegram',
    description: 'Bot message to a chat or channel',
    target: {
      label: 'Chat ID',
      help: 'A number such as -1001234567890, or @name of a public channel.',
      presence: 'required',
      format: 'text',
      pattern: /^(?:-?\d{1,20}|@[A-Za-z]\w{3,31})$/,
      mistake: 'must be a number, or @name of a public channel',
    },
    secret: { label: 'Bot token', help: 'From @BotFather.', presence: 'required' },
    server: buildServerField('https://api.telegram.org', 'Change it only for your own Bot API server.'),
  },
  matrix: {
    label: 'Matrix',
    description: 'Message to a room',
    target: {
      label: 'Room ID',
      help: 'Element shows it under Room settings, Advanced: !abc:example.org.',
      presence: 'required',
      format: 'text',
      pattern: /^![^\s]{1,254}$/,
      mistake: 'must be a room ID, which starts with !',
    },
    secret: { label: 'Access token', help: 'Of the sending account.', presence: 'required' },
    server: { label: 'Homeserver', help: 'https://matrix.example.org', presence: 'required' },
  },
  ntfy: {
    label: 'ntfy',
    description: 'Push to a topic',
    target: {
      label: 'Topic URL',
      help: 'https://ntfy.example.org/alerts',
      presence: 'required',
      format: 'url',
    },
    secret: { label: 'Access token', help: 'Only where the topic needs one.', presence: 'optional' },
  },
  pushover: {
    label: 'Pushover',
    description: 'Push to a user or group',
    target: {
      label: 'User or group key',
      help: '30 characters, from your Pushover dashboard.',
      presence: 'required',
      format: 'text',
      pattern: /^[A-Za-z0-9]{1,64}$/,
      mistake: 'must be letters and digits',
    },
    secret: {
      label: 'Application token',
      help: 'Of an application that you created at Pushover.',
      presence: 'required',
    },
    server: buildServerField('https://api.pushover.net', 'Change it only for a relay.'),
  },
  pagerduty: {
    label: 'PagerDuty',
    description: 'Opens, acknowledges and resolves incidents',
    secret: { label: 'Integration key', help: 'Of an “Events API v2” integration.', presence: 'required' },
    server: buildServerField('https://events.pagerduty.com', 'EU accounts: https://events.eu.pagerduty.com'),
  },
  opsgenie: {
    label: 'Opsgenie',
    description: 'Opens, acknowledges and closes alerts',
    secret: { label: 'API key', help: 'Of an “API” integration.', presence: 'required' },
    server: buildServerField('https://api.opsgenie.com', 'EU accounts: https://api.eu.opsgenie.com'),
  },
  http: {
    label: 'HTTP request',
    description: 'POST to any URL',
    target: { label: 'URL', help: 'Receives a POST per alert.', presence: 'required', format: 'url' },
    secret: { label: 'Signing secret', help: 'Signs each request like webhooks.', presence: 'optional' },
    custom: true,
  },
} as const satisfies Record<string, KindSpec>;

export type ChannelKind = keyof typeof KIND_SPECS;
export const CHANNEL_KINDS: Readonly<Record<ChannelKind, KindSpec>> = KIND_SPECS;
export const CHANNEL_KIND_NAMES = Object.keys(KIND_SPECS) as ChannelKind[];
