/** The texts of the style guide: real sentences, so that components are seen as they are used. */

import type { Language } from '../../lib/texts.svelte'

export interface Samples {
  about: string
  theme: string
  both: string
  sentence: string
  verbs: { send: string; change: string; other: string; remove: string }
  name: { label: string; value: string; hint: string; error: string }
  password: string
  comment: { label: string; value: string }
  search: string
  level: { label: string; options: string[] }
  tabs: { label: string; names: string[]; text: string }
  people: { name: string; note: string }[]
  sealed: string
  empty: { text: string; action: string }
  error: { text: string; action: string }
  toast: { text: string; undo: string; show: string }
  dialog: { open: string; title: string; text: string; no: string; yes: string }
  room: string
  chat: { label: string; empty: string; highlight: string; notice: string; add: string }
  chart: { label: string; lines: string[] }
  timeline: { label: string; move: string }
  board: { label: string; empty: string; kuro: string; shiro: string; candidate: string }
  secret: string
  table: string
}

export const SAMPLES: Record<Language, Samples> = {
  ja: {
    about: '座卓のページをつくる部品です。どの画面も、ひとつの卓と、紙と、墨と、はんこでできています。',
    theme: '見本の明るさ', both: '両方',
    sentence: 'みんなで囲む、ひとつの卓。',
    verbs: { send: '送る', change: '変える', other: 'ほかの手を出す', remove: '削除' },
    name: { label: '名前', value: 'さくら', hint: 'みんなに見える名前です。', error: 'この名前はもう使われています。別の名前にしてください。' },
    password: 'パスワード',
    comment: { label: 'コメント', value: '例外の型はどこで決めますか?' },
    search: '探す',
    level: { label: '強さ', options: ['やさしい', 'ふつう', 'つよい'] },
    tabs: { label: '盤のまわり', names: ['指し手', '変化', 'AI'], text: '矢印キーで移れます。選んだタブはアドレスに残ります。' },
    people: [{ name: 'さくら', note: '84点・筆' }, { name: '김민준', note: '71点・正解' }, { name: 'Leo', note: '52点' }],
    sealed: '一票入れました。締め切りまで変えられます',
    empty: { text: 'まだだれもいません。QRコードを見せて呼びましょう。', action: 'ルームを開く' },
    error: { text: 'サーバーにつながりません。接続を確かめてください。', action: 'もう一度' },
    toast: { text: '削除しました', undo: '元に戻す', show: '知らせを出す' },
    dialog: { open: 'ルームを終える…', title: 'このルームを終えますか?', text: 'コメントは送れなくなります。これまでのコメントは、あとからも読めます。', no: 'やめる', yes: '終える' },
    room: '型の話をしよう',
    chat: { label: 'コメント', empty: '最初のひとことをどうぞ。', highlight: '김민준さんが当てました +31', notice: 'おしい! あと一文字', add: 'コメントを足す' },
    chart: { label: '接続している人', lines: ['人', 'ルーム', 'コメント', '失敗'] },
    timeline: { label: '手数', move: '{n}手目' },
    board: { label: 'オセロの盤', empty: '空き', kuro: '黒', shiro: '白', candidate: '候補' },
    secret: '投票すると、みんなの票が見えます',
    table: 'みんなで使うものが、卓の上にあります。',
  },
  ko: {
    about: '자타쿠의 페이지를 이루는 부품이에요. 모든 화면은 상 하나와 종이, 먹, 도장으로 되어 있어요.',
    theme: '견본 밝기', both: '둘 다',
    sentence: '다 같이 둘러앉는 상 하나.',
    verbs: { send: '보내기', change: '바꾸기', other: '다른 수 내기', remove: '삭제' },
    name: { label: '이름', value: '김민준', hint: '모두에게 보이는 이름이에요.', error: '이미 쓰이고 있는 이름이에요. 다른 이름을 골라 주세요.' },
    password: '비밀번호',
    comment: { label: '댓글', value: '예외 타입은 어디서 정하나요?' },
    search: '찾기',
    level: { label: '세기', options: ['쉬움', '보통', '강함'] },
    tabs: { label: '판 주변', names: ['수순', '변화', 'AI'], text: '화살표 키로 옮길 수 있어요. 고른 탭은 주소에 남아요.' },
    people: [{ name: 'さくら', note: '84점 · 붓' }, { name: '김민준', note: '71점 · 정답' }, { name: 'Leo', note: '52점' }],
    sealed: '투표했어요. 마감 전까지 바꿀 수 있어요',
    empty: { text: '아직 아무도 없어요. QR 코드를 보여 주고 불러 보세요.', action: '방 열기' },
    error: { text: '서버에 연결할 수 없어요. 연결을 확인해 주세요.', action: '다시 시도' },
    toast: { text: '삭제했어요', undo: '되돌리기', show: '알림 띄우기' },
    dialog: { open: '방 끝내기…', title: '이 방을 끝낼까요?', text: '더는 댓글을 보낼 수 없어요. 지금까지의 댓글은 나중에도 읽을 수 있어요.', no: '닫기', yes: '끝내기' },
    room: '타입 이야기',
    chat: { label: '댓글', empty: '먼저 인사를 건네 보세요.', highlight: '김민준 님이 맞혔어요 +31', notice: '아까워요! 한 글자 차이예요', add: '댓글 더하기' },
    chart: { label: '접속한 사람', lines: ['사람', '방', '댓글', '실패'] },
    timeline: { label: '수순', move: '{n}수째' },
    board: { label: '오델로 판', empty: '빈칸', kuro: '흑', shiro: '백', candidate: '후보' },
    secret: '투표하면 결과가 보여요',
    table: '다 같이 쓰는 것이 상 위에 놓여요.',
  },
  en: {
    about: "What Zataku's pages are made of. Every screen is one table, paper, ink and a seal.",
    theme: 'Brightness of the samples', both: 'Both',
    sentence: 'One low table to sit around together.',
    verbs: { send: 'Send', change: 'Change it', other: 'Suggest a move', remove: 'Delete' },
    name: { label: 'Name', value: 'Leo', hint: 'Everyone sees this name.', error: 'That name is taken. Choose another one.' },
    password: 'Password',
    comment: { label: 'Comment', value: 'Where do you decide on exception types?' },
    search: 'Search',
    level: { label: 'Strength', options: ['Gentle', 'Even', 'Strong'] },
    tabs: { label: 'Around the board', names: ['Moves', 'Lines', 'AI'], text: 'Arrow keys move between tabs. The open one stays in the address.' },
    people: [{ name: 'さくら', note: '84 points · brush' }, { name: '김민준', note: '71 points · got it' }, { name: 'Leo', note: '52 points' }],
    sealed: "Vote in. Change it until time's up",
    empty: { text: "No one's here yet. Show the QR code and call people over.", action: 'Open a room' },
    error: { text: "Can't reach the server. Check your connection.", action: 'Try again' },
    toast: { text: 'Deleted', undo: 'Undo', show: 'Show a toast' },
    dialog: { open: 'End the room…', title: 'End this room?', text: 'No one can comment after that. The comments stay readable.', no: 'Cancel', yes: 'End it' },
    room: "Let's talk types",
    chat: { label: 'Comments', empty: 'Say hello first.', highlight: '김민준 got it +31', notice: 'So close! One kana off', add: 'Add a comment' },
    chart: { label: 'People connected', lines: ['People', 'Rooms', 'Comments', 'Failures'] },
    timeline: { label: 'Moves', move: 'Move {n}' },
    board: { label: 'Othello board', empty: 'empty', kuro: 'black', shiro: 'white', candidate: 'candidate' },
    secret: 'Vote to see the count',
    table: 'What people share lies on the table.',
  },
}
