/**
 * Tokens of other services (contract 21, intake). Linear, because every pattern starts with a
 * literal.
 */

const TOKEN_START = '(?<![0-9A-Za-z])';
/** Formats that match ordinary text (Twilio, Mailgun) are excluded. */
const TOKEN_PATTERNS = [
  // Amazon access key ids
  '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])',
  // GitHub, GitLab
  'gh[opsru]_[0-9A-Za-z]{30,255}',
  'github_pat_[0-9A-Za-z_]{22,255}',
  'gl(?:pat|rt|dt|cbt|ft)-[0-9A-Za-z_-]{20,255}',
  // Slack
  'xox[a-z]-[0-9A-Za-z-]{10,255}',
  'xapp-[0-9A-Za-z-]{20,255}',
  // Stripe
  '(?:[rs]k_(?:live|test)|whsec)_[0-9A-Za-z]{16,255}',
  // Google
  'AIza[0-9A-Za-z_-]{35}',
  'ya29\\.[0-9A-Za-z_-]{20,1024}',
  // Package registries
  'npm_[0-9A-Za-z]{36}',
  'pypi-[0-9A-Za-z_-]{40,512}',
  // OpenAI, Anthropic, Hugging Face
  'sk-(?:proj-|ant-|svcacct-)?(?=[0-9A-Za-z_-]{0,64}\\d)[0-9A-Za-z_-]{32,512}',
  'hf_[0-9A-Za-z]{30,64}',
  // SendGrid, DigitalOcean, Shopify, Vault, Atlassian, Linear, Postman
  'SG\\.[0-9A-Za-z_-]{16,64}\\.[0-9A-Za-z_-]{16,128}',
  'do[opr]_v1_[0-9a-f]{64}',
  'shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}',
  'hv[bs]\\.[0-9A-Za-z_-]{24,512}',
  'ATATT3[0-9A-Za-z_=-]{50,512}',
  'lin_api_[0-9A-Za-z]{32,64}',
  'PMAK-[0-9a-f-]{40,128}',
];
const KNOWN_TOKEN_PATTERN = new RegExp(`${TOKEN_START}(?:${TOKEN_PATTERNS.join('|')})`, 'g');

export const TOKEN_HINT =
  /A(?:[BKS]IA|CCA|Iza|TATT3)|gh[opsru]_|github_pat_|gl(?:pat|rt|dt|cbt|ft)-|xox[a-z]-|xapp-|[rs]k_(?:live|test)_|whsec_|ya29\.|npm_|pypi-|sk-|hf_|SG\.|do[opr]_v1_|shp(?:at|ca|pa|ss)_|hv[bs]\.|lin_api_|PMAK-/;

export const scrubKnownTokens = (text: string, instead: string): string =>
  TOKEN_HINT.test(text) ? text.replace(KNOWN_TOKEN_PATTERN, instead) : text;

/** Other hosts are recognized by `/hooks/`. */
const WEBHOOK_PATTERNS = [
  'hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)',
  'discord(?:app)?\\.com/api(?:/v\\d{1,2})?/webhooks',
  '\\.webhook\\.office\\.com/webhookb2',
  'outlook\\.office(?:365)?\\.com/webhook',
  '\\.logic\\.azure\\.com(?::443)?/workflows',
  'chat\\.googleapis\\.com/v1/spaces',
  'hooks\\.zapier\\.com/hooks/catch',
  'open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook',
  'oapi\\.dingtalk\\.com/robot/send',
  'qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/send',
  'api\\.telegram\\.org',
  '/hooks(?=/[0-9A-Za-z]{17,64}(?![0-9A-Za-z_-]))',
];
const WEBHOOK_PATTERN = new RegExp(
  `((?:${WEBHOOK_PATTERNS.join('|')})[/?])(?!\\[scrubbed\\])([^\\s"'<>\\\\)\\]}]+)`,
  'gi',
);
const WEBHOOK_HINT = /hook|logic\.azure|googleapis|dingtalk|telegram/i;

export const scrubWebhookUrls = (text: string, instead: string): string =>
  WEBHOOK_HINT.test(text) ? text.replace(WEBHOOK_PATTERN, (_, address: string) => address + instead) : text;
