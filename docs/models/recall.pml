/*
 * Sticky locks: processes that keep a store's hold between holds of their own, and give it back when it is recalled.
 *
 * Three processes, one store, one clock. Checked exhaustively by `./modelcheck recall`, which also plants each of the defects
 * below and fails unless every one of them is found.
 *
 *   -DPLANT=1   the store counts on from the token it granted, not from those it has reserved
 *   -DPLANT=2   a hold of the process's own may begin as long as the lease lasts, and so outlast it
 *   -DPLANT=3   a release reports the token that was granted, not the last one that was used
 *   -DPLANT=4   a recalled hold is released although it is in use
 *   -DPLANT=5   a refresh, too, lowers what is reserved to the token that it reports
 *   -DPLANT=6   tokens may run ahead of the clock (with -DDATALOSS)
 *   -DPLANT=7   a hold that was given away is kept, and used again
 *   -DPLANT=8   a key is used again after a release without an answer
 *   -DPLANT=9   tokens may be up to the clock (with -DDATALOSS)
 *
 *   -DDATALOSS  the store may lose all its data, once: exclusion is gone with that, the order of tokens is not
 *   -DGIVEAWAY  a key may be given to another process, which is the holder from then on
 *
 * One tick is the time in which one token may be used; a lease lasts TTL + STICKY of them. A process may stop anywhere, for
 * any time (nothing makes it take its next step) or for ever. Requests are executed late, lost, or executed without an answer;
 * recalls are lost, late and doubled.
 */
#ifndef PLANT
#define PLANT 0
#endif
#ifndef LAST
#define LAST 6          /* the clock stops here */
#endif
#ifndef KEYS
#define KEYS 4          /* how many keys the processes use together */
#endif
#ifndef FAULTS
#define FAULTS 2        /* how many requests are not answered */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef RENEWALS
#define RENEWALS 2
#endif
#define P 3
#ifndef TTL
#define TTL 1
#endif
#ifndef STICKY
#define STICKY 1
#endif
#define LEASE (TTL + STICKY)
#define RESERVE LEASE

/* what a process does */
#define FREE 0
#define ASKS 1          /* for a hold of the store */
#define USES 2
#define IDLE 3          /* keeps the hold, nobody works under it */
#define REFRESHES 4     /* an idle hold, to use it */
#define RELEASES 5
#define DEAD 6
#define ADOPTS 7        /* asks whether what it was given is held */

/* requests */
#define NONE 0
#define SAVE 1
#define REFRESH 2
#define DELETE 3

/* answers */
#define GRANTED 1
#define REFUSED 2

byte now = 0;
byte nextKey = 1;

/* the store */
byte holder = 0;        /* the key; 0: nobody */
byte holderIs = 0;      /* the process that its recalls are sent to */
byte end = 0;
byte base = 0;          /* the last token that it knows of the hold */
byte counter = 0;       /* no token up to this is granted again */
bool lossy = false;

/* the processes */
byte state[P];
byte key[P];
byte granted[P];        /* token of the last answer */
byte used[P];           /* the last token used under the hold */
byte since[P];          /* when the answer came, from which on tokens are counted */
byte asked[P];          /* when the request was sent, from which on the lease is counted */
byte leaseEnd[P];       /* what the process believes */
byte holdEnd[P];        /* when the work that goes on has to be over */
bool recalled[P];
bool givenAway[P];

/* one request in flight of each process, and one that it no longer waits for */
byte request[P];
byte requestKey[P];
byte requestClaim[P];
byte late[P];
byte lateKey[P];
byte lateClaim[P];
byte answer[P];
byte answerToken[P];

/* recalls on their way, by key */
bool recall[KEYS + 1];

/* a key that is given away, and the token it was last used with */
byte parcel = 0;
byte parcelToken = 0;
bool wasGiven = false;

byte faults = 0;
byte crashes = 0;
byte renewals = 0;

/* what nobody in the system sees */
byte newest = 0;        /* the greatest token that was ever used */

#define live (holder != 0 && now < end)
#define works(q) (state[q] == USES && now < holdEnd[q])

inline begins(p, token) {
    /* nobody else believes to hold it, and the token is greater than all before */
    assert(lossy || ((p == 0 || !works(0)) && (p == 1 || !works(1)) && (p == 2 || !works(2))));
    assert(lossy || token > newest);
    if
    :: token > newest -> newest = token
    :: else
    fi
}

inline execute(p, kind, k, claim) {
    if
    :: kind == SAVE && live && holder != k ->
        recall[holder] = true;
        answer[p] = REFUSED
    :: kind == SAVE && !(live && holder != k) ->
        if
        :: live && holder == k -> skip
        :: else ->
            base = (counter + 1 > now -> counter + 1 : now);
            assert(base > newest);
#if PLANT == 1
            counter = base;
#else
            counter = base + RESERVE;
#endif
        fi;
        holder = k; holderIs = p; end = now + LEASE;
        answer[p] = GRANTED; answerToken[p] = base
    :: kind == REFRESH && live && holder == k && base <= claim && claim <= counter ->
        base = claim;
#if PLANT == 5
        counter = claim;
#else
        counter = (claim + RESERVE > counter -> claim + RESERVE : counter);
#endif
        end = now + LEASE; holderIs = p;
        answer[p] = GRANTED; answerToken[p] = claim
    :: kind == REFRESH && !(live && holder == k && base <= claim && claim <= counter) ->
        answer[p] = REFUSED
    :: kind == DELETE && holder == k ->
        if
        :: claim != 0 -> counter = claim
        :: else
        fi;
        holder = 0; answer[p] = GRANTED
    :: kind == DELETE && holder != k ->
        answer[p] = REFUSED
    fi
}

inline send(p, kind, k, claim) {
    request[p] = kind; requestKey[p] = k; requestClaim[p] = claim;
    answer[p] = NONE; asked[p] = now
}

/* no longer waits for the answer: the request may still be executed, unless another one takes its place */
inline giveUp(p) {
    faults++;
    late[p] = request[p]; lateKey[p] = requestKey[p]; lateClaim[p] = requestClaim[p];
    request[p] = NONE; requestKey[p] = 0; requestClaim[p] = 0; answer[p] = NONE; answerToken[p] = 0
}

#define mayGiveUp(p) (late[p] == NONE && faults < FAULTS)

inline forget(p) {
    state[p] = FREE; key[p] = 0; granted[p] = 0; used[p] = 0; since[p] = 0; leaseEnd[p] = 0; holdEnd[p] = 0;
    asked[p] = 0; recalled[p] = false; givenAway[p] = false; answer[p] = NONE; answerToken[p] = 0
}

inline release(p) {
    state[p] = RELEASES; holdEnd[p] = 0;
#if PLANT == 3
    send(p, DELETE, key[p], granted[p])
#else
    send(p, DELETE, key[p], used[p])
#endif
}

/* With data loss, tokens have to stay behind the clock, not to be up to it: the answer may have come in no time. */
#if PLANT == 6
#define tokenIsDue(p) (used[p] + 1 <= granted[p] + RESERVE)
#elif defined(DATALOSS) && PLANT != 9
#define tokenIsDue(p) (used[p] + 1 <= granted[p] + RESERVE && used[p] + 1 < granted[p] + (now - since[p]))
#else
#define tokenIsDue(p) (used[p] + 1 <= granted[p] + RESERVE && used[p] + 1 <= granted[p] + (now - since[p]))
#endif

#if PLANT == 2
#define leaseIsLongEnough(p) (now < leaseEnd[p])
#else
#define leaseIsLongEnough(p) (now + TTL <= leaseEnd[p])
#endif

#define isRecalled(p) (key[p] != 0 && key[p] <= KEYS && recall[key[p]])

inline hear(p) {
    if
    :: state[p] == IDLE -> release(p)
#if PLANT == 4
    :: state[p] == USES && request[p] == NONE && answer[p] == NONE -> send(p, DELETE, key[p], used[p]); recalled[p] = true
    :: state[p] == USES && !(request[p] == NONE && answer[p] == NONE) -> recalled[p] = true
#else
    :: state[p] == USES -> recalled[p] = true
#endif
    :: state[p] == REFRESHES -> recalled[p] = true
    :: else
    fi
}

proctype Process(byte p) provided (now < LAST) {
    byte k = 0;
    do
    /* asks the store for a hold, with a key of its own */
    :: d_step { state[p] == FREE && nextKey <= KEYS && request[p] == NONE && p < nextKey /* they are alike: in this order */ ->
        key[p] = nextKey; nextKey++; state[p] = ASKS; send(p, SAVE, key[p], 0) }
    :: d_step { state[p] == ASKS && answer[p] == GRANTED ->
        if
        :: now < asked[p] + LEASE ->
            granted[p] = answerToken[p]; used[p] = granted[p]; since[p] = now; leaseEnd[p] = asked[p] + LEASE;
            begins(p, used[p]);
            holdEnd[p] = (now + TTL < leaseEnd[p] -> now + TTL : leaseEnd[p]);
            state[p] = USES; answer[p] = NONE; answerToken[p] = 0; asked[p] = 0
        :: else -> used[p] = 0; release(p)
        fi }
    :: d_step { state[p] == ASKS && answer[p] == REFUSED -> forget(p) }
    /* the answer does not come: what may be granted is given back, and the key is not used again */
    :: d_step { state[p] == ASKS && (request[p] != NONE || answer[p] != NONE) && mayGiveUp(p) ->
        giveUp(p);
        state[p] = RELEASES; send(p, DELETE, key[p], 0) }
    /* works, and is done: the hold is kept, unless somebody else asked for it, or has the key */
    :: d_step { state[p] == USES ->
        holdEnd[p] = 0;
        if
        :: recalled[p] || givenAway[p] || now >= leaseEnd[p] -> release(p)
        :: else -> state[p] = IDLE
        fi }
    /* or gives it back without being asked */
    :: d_step { state[p] == IDLE -> release(p) }
    /* recalled in use: one more turn for those who wait here */
    :: d_step { state[p] == USES && recalled[p] && !givenAway[p] && leaseIsLongEnough(p) && tokenIsDue(p) ->
        holdEnd[p] = 0; used[p]++; begins(p, used[p]); holdEnd[p] = now + TTL }
    /* a hold of the process's own, without a request */
    :: d_step { state[p] == IDLE && leaseIsLongEnough(p) && tokenIsDue(p) ->
        used[p]++; begins(p, used[p]); holdEnd[p] = now + TTL; state[p] = USES }
    /* too late for that: asks first */
    :: d_step { state[p] == IDLE && request[p] == NONE && now < leaseEnd[p] && renewals < RENEWALS -> renewals++;
        state[p] = REFRESHES; send(p, REFRESH, key[p], used[p]) }
    :: d_step { state[p] == REFRESHES && answer[p] == GRANTED ->
        if
        :: now < asked[p] + LEASE -> leaseEnd[p] = (asked[p] + LEASE > leaseEnd[p] -> asked[p] + LEASE : leaseEnd[p])
        :: else
        fi;
        granted[p] = answerToken[p]; since[p] = now; answer[p] = NONE; answerToken[p] = 0; asked[p] = 0;
        if
        :: recalled[p] -> release(p)
        :: else -> state[p] = IDLE
        fi }
    :: d_step { state[p] == REFRESHES && answer[p] == REFUSED -> forget(p) }
    :: d_step { state[p] == REFRESHES && (request[p] != NONE || answer[p] != NONE) && mayGiveUp(p) ->
        giveUp(p); release(p) }
    /* who works may renew its hold, in time or late */
    :: d_step { state[p] == USES && request[p] == NONE && answer[p] == NONE && now < holdEnd[p] && renewals < RENEWALS ->
        renewals++; send(p, REFRESH, key[p], used[p]) }
    :: d_step { state[p] == USES && answer[p] == GRANTED ->
        if
        :: now < holdEnd[p] && answerToken[p] == used[p] ->
            leaseEnd[p] = (asked[p] + LEASE > leaseEnd[p] -> asked[p] + LEASE : leaseEnd[p]);
            holdEnd[p] = (asked[p] + TTL > holdEnd[p] -> asked[p] + TTL : holdEnd[p]);
            granted[p] = answerToken[p]; since[p] = now
        :: else
        fi;
        answer[p] = NONE; answerToken[p] = 0; asked[p] = 0 }
    :: d_step { state[p] == USES && answer[p] == REFUSED -> forget(p) }
    :: d_step { state[p] == USES && request[p] != NONE && mayGiveUp(p) -> giveUp(p) }
    /* a recall comes, perhaps again, perhaps for a hold that is over */
    :: d_step { isRecalled(p) -> recall[key[p]] = false; hear(p) }
    :: d_step { isRecalled(p) && (state[p] == IDLE || !recalled[p]) -> hear(p) }
    /* the release is answered, or is not: what is kept ends with its lease */
    :: d_step { state[p] == RELEASES && answer[p] != NONE -> forget(p) }
    :: d_step { state[p] == RELEASES && mayGiveUp(p) -> giveUp(p);
#if PLANT == 8
        k = key[p]; forget(p); key[p] = k; state[p] = ASKS; send(p, SAVE, k, 0); k = 0
#else
        forget(p)
#endif
       }
#ifdef GIVEAWAY
    :: d_step { state[p] == USES && parcel == 0 && !wasGiven && request[p] == NONE && answer[p] == NONE ->
        parcel = key[p]; parcelToken = used[p]; wasGiven = true;
#if PLANT == 7
        holdEnd[p] = 0; state[p] = IDLE
#else
        forget(p)
#endif
       }
    :: d_step { state[p] == FREE && parcel != 0 && request[p] == NONE ->
        key[p] = parcel; used[p] = parcelToken; granted[p] = parcelToken; parcel = 0; parcelToken = 0; givenAway[p] = true;
        state[p] = ADOPTS; send(p, REFRESH, key[p], used[p]) }
    :: d_step { state[p] == ADOPTS && answer[p] == GRANTED ->
        if
        :: now < asked[p] + LEASE ->
            leaseEnd[p] = asked[p] + LEASE;
            /* the same hold as before: its token is not a new one */
            assert(lossy || ((p == 0 || !works(0)) && (p == 1 || !works(1)) && (p == 2 || !works(2))));
            assert(lossy || used[p] >= newest);
            holdEnd[p] = leaseEnd[p]; state[p] = USES; since[p] = now
        :: else -> release(p)
        fi;
        answer[p] = NONE; answerToken[p] = 0 }
    :: d_step { state[p] == ADOPTS && answer[p] == REFUSED -> forget(p) }
#endif
    /* dies */
    :: d_step { state[p] != FREE && crashes < CRASHES -> crashes++; forget(p); state[p] = DEAD;
        if
        :: request[p] != NONE && mayGiveUp(p) -> giveUp(p)
        :: else -> request[p] = NONE; requestKey[p] = 0; requestClaim[p] = 0
        fi }
    od
}

/* With data loss, tokens are those of the clock, which is finer than grants follow each other. */
#ifdef DATALOSS
#define isDue(kind, k) (kind != NONE && (kind != SAVE || live || counter + 1 <= now))
#else
#define isDue(kind, k) (kind != NONE)
#endif

inline executeNow(p) {
    execute(p, request[p], requestKey[p], requestClaim[p]);
    request[p] = NONE; requestKey[p] = 0; requestClaim[p] = 0
}

inline executeLate(p) {
    was = answer[p]; wasToken = answerToken[p];
    execute(p, late[p], lateKey[p], lateClaim[p]);
    answer[p] = was; answerToken[p] = wasToken; was = 0; wasToken = 0;
    late[p] = NONE; lateKey[p] = 0; lateClaim[p] = 0
}

proctype Store() provided (now < LAST) {
    byte was = 0;
    byte wasToken = 0;
    do
    :: d_step { isDue(request[0], requestKey[0]) -> executeNow(0) }
    :: d_step { isDue(request[1], requestKey[1]) -> executeNow(1) }
    :: d_step { isDue(request[2], requestKey[2]) -> executeNow(2) }
    /* nobody waits for the answer any more; or it is never executed */
    :: d_step { isDue(late[0], lateKey[0]) -> executeLate(0) }
    :: d_step { isDue(late[1], lateKey[1]) -> executeLate(1) }
    :: d_step { isDue(late[2], lateKey[2]) -> executeLate(2) }
#ifdef DATALOSS
    /* it is back a tick later at the soonest */
    :: d_step { !lossy -> lossy = true; holder = 0; end = 0; base = 0; counter = 0; now++ }
#endif
    od
}

proctype Clock() provided (now < LAST) {
    do
    :: now++
    od
}

init {
    atomic { run Process(0); run Process(1); run Process(2); run Store(); run Clock() }
}
