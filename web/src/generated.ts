// Written by `make types` from the Python structs. Change those, not this file.

/** A session; one that does not `count` is signed out. `mine` is the session of the request. */
export interface AccountSession {
  id: string;
  userAgent: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
  counts: boolean;
  mine: boolean;
}

/** An account with its sessions, the last used first. */
export interface AccountSessions {
  account: AccountView;
  sessions: AccountSession[];
}

/** An account. */
export interface AccountView {
  accountId: string;
  name: string | null;
  role: "admin" | "guest" | "user";
  language: "en" | "ja" | "ko";
  createdAt: number;
  lastSeenAt: number;
  deletedAt: number | null;
}

/** A backup is being created under this name. */
export interface BackupStarted {
  name: string;
}

/** A backup. `making` is in progress, `done` of `total`; `failed` and `damaged` have the reason in `problem`. */
export interface BackupView {
  name: string;
  state: "damaged" | "failed" | "making" | "ready" | "unchecked";
  bytes: number;
  at: number;
  done: number;
  total: number;
  problem: string | null;
}

/** All backups, the newest first. Only `files` can be downloaded, uploaded, restored and deleted here. */
export interface Backups {
  backups: BackupView[];
  files: boolean;
  mostUploadBytes: number;
  restoring: RestoreProgress | null;
}

/** Change the name or the language. A field that is left out stays unchanged. */
export interface ChangeMe {
  name?: string;
  language?: "en" | "ja" | "ko";
}

/** Change the password. API keys stay valid: revoke those that you do not trust. */
export interface ChangePassword {
  old: string;
  new: string;
}

export type ClientMessage = Join | Leave | CommandMessage | TransientMessage;

/** A command is executed and stored. */
export interface CommandDone {
  t: "done";
  id: number;
  result?: unknown;
}

/** A durable command: answered by `done` when it is stored, or by `refused`. */
export interface CommandMessage {
  t: "do";
  id: number;
  to: string;
  what: unknown;
}

/** A command or a join was refused and changed nothing. */
export interface CommandRefused {
  t: "refused";
  id: number;
  error: Problem;
}

/** Create an API key for a program. It needs the password. */
export interface CreateKey {
  password: string;
  label: string;
  scopes: string[];
  days?: number | null;
}

/** Delete the account. Users give their password. */
export interface DeleteAccount {
  password?: string | null;
}

/** The number of public rooms that wait for players, counted up to 100. */
export interface DrawingHome {
  openRooms: number;
}

/** An entity: `keys` has the template of each key attribute, such as `ACCOUNT#<accountId>`. */
export interface EntityShape {
  name: string;
  says: string;
  keys: Record<string, string>;
  fields: FieldShape[];
}

/** The events of a room after one `seq` and up to another, without those for other recipients. */
export interface Events {
  t: "events";
  to: string;
  epoch: number;
  after: number;
  seq: number;
  events: unknown[];
}

/** Events of a topic were dropped. Fetch its data again. */
export interface EventsMissed {
  t: "missed";
  to: string;
}

/** A field by its attribute name. A secret one is never shown. */
export interface FieldShape {
  name: string;
  type: string;
  says: string;
  optional: boolean;
  secret: boolean;
}

/** The heartbeat, with the server's time in milliseconds. */
export interface HeartbeatMessage {
  t: "beat";
  now: number;
}

/** The state of each system; null where it is not available. */
export interface HomeState {
  drawing: DrawingHome | null;
  othello: OthelloHome | null;
  ranking: RankingHome | null;
  live: LiveHome | null;
  kifu: KifuHome | null;
}

/** An index: the progress of its creation, and its size. */
export interface IndexFigures {
  name: string;
  state: "active" | "creating";
  done: number;
  total: number;
  items: number;
  bytes: number;
}

/** The keys of an index, and its projection. */
export interface IndexShape {
  name: string;
  pk: KeyName;
  sk: KeyName | null;
  local: boolean;
  projection: "ALL" | "INCLUDE" | "KEYS_ONLY";
  attributes: string[];
}

/** A page of items, with its cost and the cursor of the next page. `scanned` items were looked at for it. */
export interface ItemPage {
  items: ItemView[];
  scanned: number;
  readUnits: number;
  next: string | null;
}

/** An item as it is stored. */
export interface ItemView {
  kind: string | null;
  key: Record<string, Record<string, unknown>>;
  attributes: Record<string, Record<string, unknown>>;
  masked: string[];
  bytes: number;
  problem: string | null;
}

/** The number of jobs by state; lower bounds when `more` is true. */
export interface JobCount {
  waiting: number;
  running: number;
  dead: number;
  more: boolean;
}

/** The identity of a job. */
export interface JobName {
  system: string;
  kind: string;
  subject: string;
}

/** A page of jobs by due time, dead ones the latest first. Pages may overlap in time. */
export interface JobPage {
  jobs: JobView[];
  next: string | null;
}

/** A job. One that has `lapsed` has lost its runner and will be claimed again. */
export interface JobView {
  system: string;
  kind: string;
  subject: string;
  state: "dead" | "running" | "waiting";
  dueAt: number | null;
  attempts: number;
  owner: string | null;
  lapsed: boolean;
  diedAt: number | null;
  lastError: string | null;
}

/** Subscribe to a topic, from `at` if there is one; `since` is what the system calls the last thing seen. */
export interface Join {
  t: "join";
  id: number;
  to: string;
  at?: Position | null;
  since?: string | null;
  observer?: boolean;
}

/** The subscription has started. Without a snapshot, the events after the client's position follow. */
export interface Joined {
  t: "joined";
  id: number;
  to: string;
  channel: number;
  at?: Position;
  snapshot?: unknown;
  here?: number;
}

/** A new API key. `key` is returned this once and not stored. */
export interface KeyCreated {
  key: string;
  view: KeyView;
}

/** A key attribute. */
export interface KeyName {
  name: string;
  type: "B" | "N" | "S";
}

/** An API key of the caller, without its secret. */
export interface KeyView {
  id: string;
  label: string;
  scopes: string[];
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
}

/** The number of the caller's records, and the three that changed last. */
export interface KifuHome {
  count: number;
  latest: KifuHomeRecord[];
}

/** A record by the last part of its path. */
export interface KifuHomeRecord {
  id: string;
  title: string;
}

/** Unsubscribe from a topic. */
export interface Leave {
  t: "leave";
  to: string;
}

/** A comment was marked as answered, or as not answered. */
export interface LiveAnswered {
  k: "answered";
  commentId: string;
  on: boolean;
}

/** Block the sender of a comment, or unblock them, by the host. */
export interface LiveBlockSender {
  k: "block_sender";
  commentId: string;
  on?: boolean;
}

/** Block a word, or unblock it, by the host. */
export interface LiveBlockWord {
  k: "block_word";
  word: string;
  on?: boolean;
}

/** A blocked sender, known by a comment of theirs; `about` is its text, if it still exists. */
export interface LiveBlockedSender {
  commentId: string;
  at: string;
  about?: string;
  nickname?: string;
  anonymousNumber?: number;
}

/** Close the room for good, by its host. The reply is the room. */
export interface LiveCloseRoom {
  k: "close";
}

export type LiveCommand = LivePostComment | LiveRetractComment | LiveUpvote | LiveCloseRoom | LiveMarkComment | LiveDeleteComment | LivePauseRoom | LiveSetSlowMode | LiveBlockWord | LiveBlockSender;

/** A page of comments in order. With `more` there are others in the direction of reading. */
export interface LiveCommentList {
  comments: LiveCommentView[];
  more?: boolean;
}

/** A comment was posted. */
export interface LiveCommentPosted {
  k: "commented";
  comment: LiveCommentView;
}

/** A comment was hidden; with `deleted`, deleted for good. */
export interface LiveCommentRemoved {
  k: "gone";
  commentId: string;
  deleted?: boolean;
}

/** A hidden comment is shown again, at its old position. */
export interface LiveCommentRestored {
  k: "back";
  comment: LiveCommentView;
}

/** A comment; `seq` is its position in the room. */
export interface LiveCommentView {
  commentId: string;
  seq: string;
  content: string;
  nickname: string;
  createdAt: string;
  host?: boolean;
  anonymousNumber?: number;
}

/** Delete a comment for good, by the host. */
export interface LiveDeleteComment {
  k: "delete";
  commentId: string;
}

export type LiveEvent = LiveCommentPosted | LiveCommentRemoved | LiveCommentRestored | LivePinned | LiveUnpinned | LiveAnswered | LiveUpvoted | LiveRoomChanged | LiveModerated | LiveRoomClosed | LiveReacted;

/** A room with all its comments, in order. */
export interface LiveExport {
  room: LiveRoomView;
  exportedAt: string;
  reactions: LiveReactions;
  comments: LiveExportedComment[];
}

/** A comment with its marks and votes; `host` says that the host of the room wrote it. */
export interface LiveExportedComment {
  seq: string;
  createdAt: string;
  nickname: string;
  anonymousNumber: number | null;
  host: boolean;
  content: string;
  votes: number;
  pinned: boolean;
  answered: boolean;
  hidden: boolean;
  commentId: string;
}

/** The number of rooms that run now in any process, and of the people in them. */
export interface LiveHome {
  rooms: number;
  people: number;
  ended?: number;
  demo?: string;
}

/** The host's view of a room: the log, newest first, the blocks, and the hidden comments. */
export interface LiveHostView {
  log: LiveLogView[];
  words: string[];
  senders: LiveBlockedSender[];
  hidden: LiveCommentView[];
}

/** An entry of the host's log: `subject` is a comment's id, a word, or seconds; `about` the text of the comment. */
export interface LiveLogView {
  logId: string;
  at: string;
  action: "ANSWER" | "BLOCK_SENDER" | "BLOCK_WORD" | "DELETE" | "HIDE" | "HURRY" | "PAUSE" | "PIN" | "REASK" | "RESUME" | "SHOW" | "SLOW" | "UNBLOCK_SENDER" | "UNBLOCK_WORD" | "UNPIN";
  subject?: string;
  about?: string;
}

/** Hide, pin or mark as answered a comment, or undo that, by the host. */
export interface LiveMarkComment {
  k: "mark";
  commentId: string;
  mark: "ANSWERED" | "HIDDEN" | "PINNED";
  on?: boolean;
}

/** An action was logged; sent to the host alone. */
export interface LiveModerated {
  k: "moderated";
  entry: LiveLogView;
}

/** The log entry of an action, or none when it changed nothing. */
export interface LiveModerationResult {
  entry?: LiveLogView;
}

/** The public moderation of a room: marks, upvotes and reactions. */
export interface LiveModerationStateView {
  pinned?: LiveCommentView[];
  answered?: string[];
  gone?: string[];
  votes?: Record<string, number>;
  reactions?: LiveReactions;
}

/** The request to open a room. */
export interface LiveNewRoom {
  name: string;
}

/** Pause the comments of the room, or resume them, by the host. */
export interface LivePauseRoom {
  k: "pause";
  on?: boolean;
}

/** A comment was pinned. */
export interface LivePinned {
  k: "pinned";
  comment: LiveCommentView;
}

/** Post a comment. The reply is the comment. Sent again with the same `id` it is still one comment. */
export interface LivePostComment {
  k: "comment";
  content: string;
  nickname?: string | null;
  id?: string | null;
}

/** An upvoted comment, its votes, and whether it was answered. */
export interface LiveQuestion {
  comment: LiveCommentView;
  votes: number;
  answered: boolean;
}

/** The upvoted comments of a room, the most upvoted first. */
export interface LiveQuestions {
  questions: LiveQuestion[];
}

/** React, without a reply. */
export interface LiveReact {
  k: "react";
  reaction: "aha" | "clap" | "lol";
}

/** The reactions since the last such event. It is not repeated to clients that resume. */
export interface LiveReacted {
  k: "reacted";
  clap?: number;
  aha?: number;
  lol?: number;
}

/** The number of reactions of each kind. */
export interface LiveReactions {
  clap?: number;
  aha?: number;
  lol?: number;
}

/** Delete a comment of the sender, within 60 seconds. */
export interface LiveRetractComment {
  k: "take_back";
  commentId: string;
}

/** The room was paused, resumed, or its slow mode changed. */
export interface LiveRoomChanged {
  k: "changed";
  room: LiveRoomView;
}

/** The room was closed. */
export interface LiveRoomClosed {
  k: "closed";
}

/** A page of the caller's rooms, newest first; `next` is the cursor of the next page. `demo` is the demo's room. */
export interface LiveRoomList {
  rooms: LiveRoomView[];
  next?: string;
  demo?: LiveRoomView;
}

/** A room. `mine` says whether the viewer is its host, where the viewer is known; an open room has a `code`. */
export interface LiveRoomView {
  roomId: string;
  name: string;
  status: "CLOSED" | "OPEN";
  createdAt: string;
  closedAt?: string;
  mine?: boolean;
  paused?: boolean;
  slowModeSeconds?: number;
  code?: string;
}

/** Comments that match a search, in order; `next` is the `seq` to continue after. */
export interface LiveSearchResults {
  comments: LiveCommentView[];
  next?: string;
}

/** Set the seconds between two comments of a sender, or switch slow mode off, by the host. */
export interface LiveSetSlowMode {
  k: "slow";
  seconds?: number | null;
}

/** The room, and its comments after what the reader has seen; for a new reader the latest. */
export interface LiveSnapshot {
  room: LiveRoomView;
  comments: LiveCommentView[];
  standing?: LiveModerationStateView;
  more?: boolean;
  earlier?: boolean;
}

/** A talk from its first comment to its last, in parts of equal length. */
export interface LiveTimeline {
  begin: string;
  end: string;
  partSeconds: number;
  parts: LiveTimelinePart[];
  comments: number;
  people: number;
  reactions?: LiveReactions;
}

/** The comments and reactions of one part of a talk, and the `seq` of its first comment. */
export interface LiveTimelinePart {
  comments?: number;
  reactions?: number;
  seq?: string;
}

/** A comment was unpinned. */
export interface LiveUnpinned {
  k: "unpinned";
  commentId: string;
}

/** Upvote a comment of somebody else, once, or take the upvote back. The reply is `upvoted`. */
export interface LiveUpvote {
  k: "upvote";
  commentId: string;
  on?: boolean;
}

/** The new number of upvotes of a comment. */
export interface LiveUpvoted {
  k: "upvoted";
  commentId: string;
  votes: number;
}

/** The caller. Guests have no name; `createdAt` is null until something of theirs is stored. */
export interface Me {
  accountId: string;
  role: "admin" | "guest" | "user";
  name: string | null;
  language: "en" | "ja" | "ko";
  createdAt: number | null;
}

/** A message could not be read or exceeded a limit. The socket is closed when this continues. */
export interface MessageRejected {
  t: "wrong";
  error: Problem;
}

/** Metrics of the last minutes: `at` has the times, each of the other lists as many values. */
export interface MetricHistory {
  stepSeconds: number;
  at: number[];
  requestsPerSecond: (number | null)[];
  errorsPerSecond: (number | null)[];
  medianMs: (number | null)[];
  p95Ms: (number | null)[];
  sockets: (number | null)[];
  rooms: (number | null)[];
  readUnitsPerSecond: (number | null)[];
  writeUnitsPerSecond: (number | null)[];
  loopLagMs: (number | null)[];
  memoryMb: (number | null)[];
}

/** The cost of a month at the use since the server started. */
export interface MonthCost {
  reads: number;
  writes: number;
  storage: number;
  total: number;
}

/** Everyone who is connected to this process, the longest first; `left_out` counts those beyond the limit. */
export interface Online {
  people: OnlinePerson[];
  sockets: number;
  leftOut: number;
}

/** A person who is connected to this process. Addresses are truncated to their networks. */
export interface OnlinePerson {
  accountId: string;
  name: string | null;
  role: "admin" | "guest" | "user";
  addresses: string[];
  since: number;
  sockets: number;
  topics: string[];
}

/** The current turn of a game, the end of its vote, and the number of votes. */
export interface OthelloHome {
  gameId: string | null;
  turn: number | null;
  endsAt: string | null;
  votes: number | null;
}

/** The state of the server. `process` is this process; sockets are its own. */
export interface Overview {
  version: string;
  env: string;
  store: StoreFacts;
  bus: string;
  process: string;
  startedAt: number;
  now: number;
  uptimeSeconds: number;
  sockets: number;
  rooms: RoomCount[];
  jobs: JobCount;
}

/** The use of one access pattern since the server started, and since the store was created. */
export interface PatternFigures {
  name: string;
  kind: "item" | "other" | "query" | "write";
  says: string;
  run: UnitsUsed;
  ever: UnitsUsed;
  unitsPerCall: number;
  month: number;
}

/** A client's position in a room. */
export interface Position {
  epoch: number;
  seq: number;
}

/** How many people are in a room. */
export interface Presence {
  t: "presence";
  to: string;
  here: number;
}

/** DynamoDB's prices on demand, in a region and as of a date. */
export interface Prices {
  region: string;
  asOf: string;
  currency: string;
  millionReads: number;
  millionWrites: number;
  gigabyteMonth: number;
}

/** An error as it is sent: a code for programs, a sentence for users, and further values. */
export interface Problem {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/** The newest published day, and the names of the first three by level. Null while no day is published. */
export interface RankingHome {
  day: string | null;
  first: string[];
}

/** The server is stopping. Open a new socket after so many milliseconds. */
export interface Reconnect {
  t: "come_back";
  after: number;
}

/** The typed name of the backup, so that nothing is replaced by accident. */
export interface RestoreConfirmation {
  confirm: string;
}

/** The last restore since the server started: the backup `saved_as` is created, then everything is replaced. */
export interface RestoreProgress {
  name: string;
  state: "done" | "failed" | "restoring" | "saving";
  savedAs: string;
  at: number;
  done: number;
  total: number;
  problem: string | null;
}

/** The number of running rooms of a system in all processes, and of the people in them. */
export interface RoomCount {
  kind: string;
  rooms: number;
  people: number;
}

export type ServerMessage = Welcome | HeartbeatMessage | Joined | CommandDone | CommandRefused | Events | TransientBroadcast | Snapshot | EventsMissed | Presence | TopicClosed | Reconnect | MessageRejected;

/** A browser in which the caller is signed in. Its id is not a secret. */
export interface SessionView {
  id: string;
  userAgent: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
  current: boolean;
}

/** Sign in under a name. */
export interface SignIn {
  name: string;
  password: string;
}

/** Sign up under a name. */
export interface SignUp {
  name: string;
  password: string;
}

/** The state of a room: the client was too slow, or another process acquired the room. */
export interface Snapshot {
  t: "snapshot";
  to: string;
  at: Position;
  snapshot: unknown;
}

/** The store's location, without secrets, its capabilities and its own facts. */
export interface StoreFacts {
  place: string;
  kind: "dynamodb" | "embedded";
  capabilities: string[];
  facts: Record<string, string>;
}

/** One table with its design. */
export interface TableDetail {
  figures: TableFigures;
  pk: KeyName;
  sk: KeyName | null;
  ttl: string | null;
  stream: string | null;
  indexes: IndexShape[];
  entities: EntityShape[];
  prices: Prices;
  measuredSeconds: number;
  sizedAt: number;
}

/** A table of a design: its size and cost. `name` is the one in the store. */
export interface TableFigures {
  name: string;
  system: string;
  kinds: string[];
  items: number;
  bytes: number;
  indexes: IndexFigures[];
  patterns: PatternFigures[];
  month: MonthCost;
}

/** All tables. Sizes are as of `sized_at`; DynamoDB's own are some hours older. `others` belong to no table. */
export interface Tables {
  tables: TableFigures[];
  others: PatternFigures[];
  month: MonthCost;
  prices: Prices;
  measuredSeconds: number;
  sizedAt: number;
}

/** The subscription has ended: the topic is closed or cannot be served. Join again only after `unavailable`. */
export interface TopicClosed {
  t: "gone";
  to: string;
  error: Problem;
}

/** Transient events of a room, or the events of a topic; they are not stored. */
export interface TransientBroadcast {
  t: "passing";
  to: string;
  events: unknown[];
}

/** A transient command: executed at once and never answered. */
export interface TransientMessage {
  t: "pass";
  to: string;
  what: unknown;
}

/** The number of calls, and the units of all of them. */
export interface UnitsUsed {
  calls: number;
  readUnits: number;
  writeUnits: number;
}

/** The first message: the server's time, and the time between two heartbeats, in milliseconds. */
export interface Welcome {
  t: "welcome";
  now: number;
  beat: number;
}

/** Every operation: its parameters, its body, and its response as `answer`. */
export interface Api {
  "DELETE /api/admin/accounts/{account_id}/sessions/{session}": { path: { account_id: string; session: string }; answer: null };
  "DELETE /api/admin/backups/{name}": { path: { name: string }; answer: null };
  "DELETE /api/keys/{key_id}": { path: { key_id: string }; answer: null };
  "DELETE /api/live/rooms/{room_id}/comments/{comment_id}": { path: { room_id: string; comment_id: string }; answer: LiveCommentRemoved };
  "DELETE /api/live/rooms/{room_id}/comments/{comment_id}/upvote": { path: { room_id: string; comment_id: string }; answer: LiveUpvoted };
  "DELETE /api/me": { body: DeleteAccount; answer: null };
  "DELETE /api/sessions": { answer: null };
  "DELETE /api/sessions/current": { answer: null };
  "DELETE /api/sessions/{session_id}": { path: { session_id: string }; answer: null };
  "GET /api/admin/accounts": { query: { name?: string }; answer: AccountView };
  "GET /api/admin/accounts/{account_id}/sessions": { path: { account_id: string }; answer: AccountSessions };
  "GET /api/admin/backups": { answer: Backups };
  "GET /api/admin/backups/{name}/file": { path: { name: string }; answer: Blob };
  "GET /api/admin/history": { query: { minutes?: number }; answer: MetricHistory };
  "GET /api/admin/jobs": { query: { state?: string; limit?: number; after?: string }; answer: JobPage };
  "GET /api/admin/online": { answer: Online };
  "GET /api/admin/overview": { answer: Overview };
  "GET /api/admin/tables": { answer: Tables };
  "GET /api/admin/tables/{name}": { path: { name: string }; answer: TableDetail };
  "GET /api/admin/tables/{name}/items": { path: { name: string }; query: { index?: string; pk?: string; op?: string; sk?: string; sk2?: string; newest?: boolean; unreadable?: boolean; limit?: number; after?: string }; answer: ItemPage };
  "GET /api/home": { answer: HomeState };
  "GET /api/keys": { answer: KeyView[] };
  "GET /api/live/codes/{code}": { path: { code: string }; answer: LiveRoomList };
  "GET /api/live/rooms": { query: { after?: string }; answer: LiveRoomList };
  "GET /api/live/rooms/{room_id}": { path: { room_id: string }; answer: LiveRoomView };
  "GET /api/live/rooms/{room_id}/comments": { path: { room_id: string }; query: { after?: string; before?: string }; answer: LiveCommentList };
  "GET /api/live/rooms/{room_id}/export.csv": { path: { room_id: string }; answer: string };
  "GET /api/live/rooms/{room_id}/export.json": { path: { room_id: string }; answer: LiveExport };
  "GET /api/live/rooms/{room_id}/moderation": { path: { room_id: string }; answer: LiveHostView };
  "GET /api/live/rooms/{room_id}/questions": { path: { room_id: string }; answer: LiveQuestions };
  "GET /api/live/rooms/{room_id}/search": { path: { room_id: string }; query: { q: string; after?: string }; answer: LiveSearchResults };
  "GET /api/live/rooms/{room_id}/standing": { path: { room_id: string }; answer: LiveModerationStateView };
  "GET /api/live/rooms/{room_id}/timeline": { path: { room_id: string }; answer: LiveTimeline };
  "GET /api/me": { answer: Me };
  "GET /api/sessions": { answer: SessionView[] };
  "PATCH /api/me": { body: ChangeMe; answer: Me };
  "POST /api/accounts": { body: SignUp; answer: Me };
  "POST /api/admin/accounts/{account_id}/sign-out": { path: { account_id: string }; answer: null };
  "POST /api/admin/backups": { answer: BackupStarted };
  "POST /api/admin/backups/upload": { query: { name?: string }; answer: BackupView };
  "POST /api/admin/backups/{name}/restore": { path: { name: string }; body: RestoreConfirmation; answer: BackupStarted };
  "POST /api/admin/jobs/cancel": { body: JobName; answer: null };
  "POST /api/admin/jobs/retry": { body: JobName; answer: null };
  "POST /api/keys": { body: CreateKey; answer: KeyCreated };
  "POST /api/live/rooms": { body: LiveNewRoom; answer: LiveRoomView };
  "POST /api/live/rooms/{room_id}/acts": { path: { room_id: string }; body: LiveMarkComment | LiveDeleteComment | LivePauseRoom | LiveSetSlowMode | LiveBlockWord | LiveBlockSender; answer: LiveModerationResult };
  "POST /api/live/rooms/{room_id}/close": { path: { room_id: string }; answer: LiveRoomView };
  "POST /api/live/rooms/{room_id}/comments": { path: { room_id: string }; body: LivePostComment; answer: LiveCommentView };
  "POST /api/live/rooms/{room_id}/comments/{comment_id}/upvote": { path: { room_id: string; comment_id: string }; answer: LiveUpvoted };
  "POST /api/me/password": { body: ChangePassword; answer: null };
  "POST /api/sessions": { body: SignIn; answer: Me };
}

/** The name of a system. */
export type SystemName = "drawing" | "othello" | "ranking" | "live" | "kifu";

/** A page of a system: its path, the folder of its component in `pages`, and whether people are together there. */
export interface SystemPage {
  path: string;
  component: string;
  isRoom: boolean;
}

/** A system as the pages know it. */
export interface SystemEntry {
  name: SystemName;
  pages: SystemPage[];
  scopes: string[];
}

/** The systems, in the order in which they are shown. */
export const SYSTEMS: readonly SystemEntry[] = [
  {"name": "drawing", "pages": [{"path": "/drawing", "component": "drawing", "isRoom": false}], "scopes": ["drawing:read", "drawing:write"]},
  {"name": "othello", "pages": [{"path": "/othello", "component": "othello", "isRoom": false}], "scopes": ["othello:read", "othello:write"]},
  {"name": "ranking", "pages": [{"path": "/ranking", "component": "ranking", "isRoom": false}], "scopes": ["ranking:read", "ranking:write"]},
  {"name": "live", "pages": [{"path": "/live", "component": "live", "isRoom": false}, {"path": "/live/:roomId", "component": "live", "isRoom": true}, {"path": "/l/:code", "component": "live", "isRoom": true}], "scopes": ["live:read", "live:write"]},
  {"name": "kifu", "pages": [{"path": "/kifu", "component": "kifu", "isRoom": false}], "scopes": ["kifu:read", "kifu:write"]},
];
