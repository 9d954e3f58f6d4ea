"""Objective-C as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
// Keeps users, and shows them.

#import "UserStore.h"

NS_ASSUME_NONNULL_BEGIN

#define MAX_USERS 20
#define CLAMP(value, most) ((value) > (most) ? (most) : (value))

static NSString *const kStoreName = @"users";

/// How a user is shown.
typedef NS_ENUM(NSInteger, UserStyle) {
    UserStyleShort,
    UserStyleLong = 2,
};

typedef struct {
    double x;
    double y;
} Place;

struct Pair {
    int first, *second;
};

typedef void (^UserBlock)(User *user);

@protocol UserSource <NSObject>
- (nullable User *)userWithName:(NSString *)name;
@optional
- (void)reload;
@end

/**
 * What nobody else sees of a store.
 */
@interface UserStore () <UserSource> {
    int _count;
}
@property (nonatomic, strong) NSMutableDictionary<NSString *, User *> *users;
@property (nonatomic, copy) UserBlock onChange;
@end

// Reads one user
// from a row.
static User *ParseUser(NSDictionary *row) {
    if (row[@"name"] == nil) {
        return nil;
    }
    return [User new];
}

NSInteger UserCount(UserStore *store) {
    return CLAMP(store.users.count, MAX_USERS);
}

@implementation UserStore {
    dispatch_queue_t _queue;
}

@synthesize users = _users;

/** Makes a store for some users. */
- (instancetype)initWithUsers:(NSArray *)users limit:(NSInteger)limit NS_DESIGNATED_INITIALIZER {
    if ((self = [super init])) {
        [self addRow:@{} style:UserStyleLong];
    }
    return self;
}

+ (instancetype)shared {
    return nil;
}

#pragma mark - Rows

- (void)addRow:(NSDictionary *)row style:(UserStyle)style {
    User *user = ParseUser(row);
    self.onChange(user);
    [self.users setObject:user forKey:kStoreName];
}

- (void)log:(NSString *)format, ... {
    NSLog(@"%@", format, nil);
}

@end

@implementation UserStore (Export)

- (NSData *)export API_AVAILABLE(ios(13.0)) {
    return [[UserStore shared] data];
}

@end

NS_ASSUME_NONNULL_END
"""

CASE = OutlineCase(
    language="objective-c",
    path="Sources/UserStore.m",
    source=SOURCE,
    found={
        "CLAMP": ("function", 8, 8),
        "UserStyle": ("class", 13, 16),
        "Place": ("class", 18, 21),
        "Pair": ("class", 23, 25),
        "UserBlock": ("class", 27, 27),
        "UserSource": ("class", 29, 33),
        "UserSource::userWithName:": ("function", 30, 30),
        "UserSource::reload": ("function", 32, 32),
        "UserStore()": ("class", 38, 43),
        "ParseUser": ("function", 47, 52),
        "UserCount": ("function", 54, 56),
        "UserStore": ("class", 58, 88),
        "UserStore::initWithUsers:limit:": ("function", 65, 70),
        "UserStore::shared": ("function", 72, 74),
        "UserStore::addRow:style:": ("function", 78, 82),
        "UserStore::log:": ("function", 84, 86),
        "UserStore(Export)": ("class", 90, 96),
        "UserStore(Export)::export": ("function", 92, 94),
    },
    documented={
        "UserStyle": "How a user is shown.",
        "UserStore()": "What nobody else sees of a store.",
        "ParseUser": "Reads one user\nfrom a row.",
        "UserStore::initWithUsers:limit:": "Makes a store for some users.",
    },
    fields={
        "UserStyle": ("UserStyleShort", "UserStyleLong"),
        "Place": ("x", "y"),
        "Pair": ("first", "second"),
        "UserStore()": ("_count", "users", "onChange"),
        "UserStore": ("_queue",),
    },
    calls={
        "ParseUser": ("User.new",),
        "UserCount": ("CLAMP",),
        "UserStore::initWithUsers:limit:": ("super.init", "self.addRow:style:"),
        "UserStore::addRow:style:": ("ParseUser",),
        "UserStore::log:": ("NSLog",),
        "UserStore(Export)::export": ("UserStore.shared",),
    },
    private=frozenset({"ParseUser"}),
    constants=("MAX_USERS", "kStoreName"),
    edit=("return [User new];", "return [User alloc];"),
    edited=frozenset({"ParseUser"}),
    rename=("addRow:(NSDictionary *)row style:", "addRow:(NSDictionary *)row look:"),
    renamed={"UserStore::addRow:style:": "UserStore::addRow:look:"},
    uses=frozenset(
        {
            ("UserCount", "CLAMP"),
            ("UserCount", "UserStore"),
            ("UserStore()", "UserBlock"),
            ("UserStore()", "UserSource"),
            ("UserStore(Export)::export", "UserStore"),
            ("UserStore(Export)::export", "UserStore::shared"),
            ("UserStore::addRow:style:", "ParseUser"),
            ("UserStore::addRow:style:", "UserStyle"),
            ("UserStore::initWithUsers:limit:", "UserStore::addRow:style:"),
        }
    ),
)
