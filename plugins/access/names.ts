/**
 * What this plugin's container holds, by name. Strings and not classes: tsyringe makes a new instance for every class it
 * is asked for, and the throttle or the token service must be one.
 */
export const AT = {
  app: 'access.app',
  system: 'access.system',
  clock: 'access.clock',
  ids: 'access.ids',
  log: 'access.log',
  hasher: 'access.hasher',
  cipher: 'access.cipher',
  accountRows: 'access.account_rows',
  tokenRows: 'access.token_rows',
  sessionRows: 'access.session_rows',
  challengeRows: 'access.challenge_rows',
  throttleRows: 'access.throttle_rows',
  rosterRows: 'access.roster_rows',
  auditRows: 'access.audit_rows',
  background: 'access.background',
  roster: 'access.roster',
  accounts: 'access.accounts',
  tokens: 'access.token_service',
  sessions: 'access.sessions',
  throttle: 'access.throttle',
  devices: 'access.devices',
  credentials: 'access.credential_service',
  totp: 'access.totp',
  login: 'access.login',
  audit: 'access.audit_service',
} as const;
