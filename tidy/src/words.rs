//! The banned words and phrases, each with its replacement.
//!
//! A pattern is a sequence of words and punctuation marks. `a|b` matches either word, `*` any word, and `^` the start
//! of a sentence. `~` matches up to seven words of one sentence, or up to 60 before a `?` at the end of the pattern. A
//! match is permitted if its first word is part of a match of `except`. To permit a literal use of a word, add the
//! shortest phrase that identifies the literal use.

/// One entry of the table.
pub struct Ban {
    pub pattern: &'static str,
    pub except: &'static [&'static str],
    pub instead: &'static str,
}

const fn ban(pattern: &'static str, except: &'static [&'static str], instead: &'static str) -> Ban {
    Ban { pattern, except, instead }
}

/// The banned words and phrases, in the format that the module documentation describes.
pub const BANS: &[Ban] = &[
    ban(
        "turn|turns|turned|turning",
        &[
            "half|quarter|full turn|turns",
            "quarters of a turn",
            "turn|turns|turned|turning into|on|off",
            "turn|turns|turned|turning * into|off",
            "turn|turns|turned|turning it|them|this|that on",
            "turn|turns|turned|turning the|a|an|each|every|all * into|off",
            "turn|turns|turned|turning the|a|an|each|every|all * * into|off",
        ],
        "iteration; in sequence; round-robin",
    ),
    ban("behind", &[], "after, following"),
    ban("stand|stands|stood", &["stand-in"], "is, appears, is listed, is at; represents"),
    ban(
        "is|are|was|were|be no *",
        &[
            "there is|are|was|were|be no",
            "there can|may|must|will|would|should be no",
            "there need be no",
            "is|are there no",
            "is|are|was|were|be no longer",
            "is|are|was|were|be no-op",
        ],
        "is not a",
    ),
    ban("has|have|had no more", &[], "has at most"),
    ban("so many", &[], "N, the number"),
    ban("so much", &[], "that much; the amount"),
    ban("so far", &["so far as"], "up to this point; until now"),
    ban("told|tell|tells|telling", &[], "reported; reports, says, distinguishes"),
    ban("by words|locks|integers|others", &[], "emulated with 32-bit integers; lock-based; emulated"),
    ban(
        "far",
        &[
            "so far",
            "as far as",
            "by far",
            "far from|more|less|larger|fewer|smaller|apart|beyond|below|above|too|enough|slower|faster",
            "too|how far",
        ],
        "with 64-bit offsets; large",
    ),
    ban("whoever", &[], "name the thing: the caller, the waiting thread"),
    ban("who|those waits|wait", &["who waits|wait ?"], "the waiting thread; name the thing"),
    ban("^ who", &[], "name the thing"),
    ban("by|of|from|to|knows|know|for|and|says|say|what who", &[], "name the thing"),
    ban("hand|hands|handed|handing over", &[], "transfer, pass"),
    ban("hand|hands|handed|handing it|them over", &[], "transfer, pass"),
    ban("made|makes|make of", &[], "consists of, created from, computed from"),
    ban("something", &[], "name the thing"),
    ban("comes|come|came of", &[], "results from; the result of"),
    ban("goes|go|going|went on", &[], "continues"),
    ban("all that there is", &[], "every"),
    ban("all there is", &[], "every"),
    ban("machine|machines of states", &[], "state machine"),
    ban("room|rooms", &["room for", "room to"], "module, structure; space"),
    ban("house|houses|storey|storeys|floors|shelf|shelves|seat|seats", &[], "module, layer, disk cache, worker slot"),
    ban("but for", &[], "except for; without"),
    ban("of ours|theirs|mine", &[], "of wgcl; name the owner"),
    ban("apiece", &[], "each"),
    ban("else than", &[], "other than, except"),
    ban("the like", &[], "similar; name the things"),
    ban("it stands that", &[], "the specification says that"),
    ban("nobody|somebody|anybody", &[], "name the thing; no caller, no thread"),
    ban("one after the other", &[], "in sequence, consecutive"),
    ban("of its|their|our own .|,|;|:|in|with|because|that|so|since|if|for|and", &[], "separate, dedicated; its own ..."),
    ban("by itself|themselves", &[], "separately, alone, on its own"),
    ban("at hand", &[], "available, accessible"),
    ban("nothing|anything but", &["nothing but zeros"], "only; other than"),
    ban("ask|asks|asked|asking for", &[], "request, require, query"),
    ban("hold|holds|held ~ against", &[], "compare with, verify, check"),
    ban("of|for|with|from|by|about|or|than what", &["of|for|with|from|by|about what ~ ?"], "name the thing: the value, the error"),
    ban("is|are known of", &[], "is known about; the facts about"),
    ban("hand|hands|handed through|round|on", &[], "pass, forward"),
    ban("is|are|was|were made", &[], "is created, computed, compiled, built"),
    ban("to|is|are|be come to", &[], "is reached"),
    ban("for want of", &[], "because ... is missing"),
    ban("please", &[], "state the expected value"),
];

/// The beginnings of sentences without their own subject and verb, in comments.
pub const HEADLESS: &[Ban] = &[
    ban("^ of", &["^ of course"], "begin with the subject: \"A kernel has ...\""),
    ban("^ what", &["^ what ~ ?"], "name the thing: \"The number of ...\""),
    ban("^ the same for|of|as|in|by|with|on|at|from|where|but|without|again|is|.|,|:", &[], "repeat the subject"),
    ban(
        "^ as before|above|below|for|in|with",
        &["^ as in|with|for ~ ,", "safety : as above|before|below"],
        "repeat the subject and the verb",
    ),
    ban("^ likewise", &["^ likewise ,"], "repeat the subject and the verb"),
    ban("^ how many|much|often", &["^ how ~ ?"], "name the quantity: \"The number of ...\""),
    ban("^ whose|whom", &["^ whose ~ ?"], "begin with the subject"),
    ban("^ which of|one|ones", &["^ which ~ ?"], "name the thing: \"The lanes that ...\""),
    ban("^ no matter", &[], "repeat the subject"),
];

/// American spellings, by the start of the word, each with the start of the British one.
pub const SPELLINGS: &[(&str, &str)] = &[
    ("analyz", "analys"),
    ("behavior", "behaviour"),
    ("canceled", "cancelled"),
    ("canonicaliz", "canonicalis"),
    ("center", "centre"),
    ("color", "colour"),
    ("defense", "defence"),
    ("deserializ", "deserialis"),
    ("favor", "favour"),
    ("finaliz", "finalis"),
    ("generaliz", "generalis"),
    ("gray", "grey"),
    ("honor", "honour"),
    ("initializ", "initialis"),
    ("labeled", "labelled"),
    ("legaliz", "legalis"),
    ("materializ", "materialis"),
    ("maximiz", "maximis"),
    ("minimiz", "minimis"),
    ("modeled", "modelled"),
    ("neighbor", "neighbour"),
    ("normaliz", "normalis"),
    ("optimiz", "optimis"),
    ("organiz", "organis"),
    ("randomiz", "randomis"),
    ("recogniz", "recognis"),
    ("reorganiz", "reorganis"),
    ("scalariz", "scalaris"),
    ("serializ", "serialis"),
    ("specializ", "specialis"),
    ("summariz", "summaris"),
    ("synchroniz", "synchronis"),
    ("uninitializ", "uninitialis"),
    ("unnormaliz", "unnormalis"),
    ("vectoriz", "vectoris"),
    ("visualiz", "visualis"),
];
